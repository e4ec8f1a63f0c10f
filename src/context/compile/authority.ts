import type { Claim, Evidence } from '../claims/claim.ts';
import { parseSubject, parseWikiSubject } from '../claims/subject.ts';

/** The kinds of subjects that sources can have a rank for. */
export const authorityTopics = [
  'datasets',
  'fields',
  'metrics',
  'joins',
  'terms',
  'rules',
] as const;
type AuthorityTopic = (typeof authorityTopics)[number];

/** Which source counts more where sources disagree, and people have not decided. */
export interface Authority {
  /**
   * Names of connections or kinds of source, the one that counts most first. `default` holds where
   * a topic has no list of its own.
   */
  readonly order: Readonly<Partial<Record<AuthorityTopic | 'default', readonly string[]>>>;
  /** The kind of each source, by the name of its connection. */
  readonly kinds: Readonly<Record<string, string>>;
  /** `2025-11-25`: what expired before it counts least. */
  readonly today?: string | undefined;
}

export const defaultAuthority: Authority = { order: {}, kinds: {} };

/** Semantic models, BI tools, documents, chat. */
const defaultOrder = [
  'dbt',
  'metricflow',
  'lookml',
  'looker',
  'metabase',
  'docs',
  'notion',
  'notes',
];

/** How two claims about one subject compare by where they come from: below 0, `a` counts more. */
export type CompareSources = (a: Claim, b: Claim) => number;

/** Compares by the ranks that people gave to the sources of the topic; 0 where they gave none. */
export function compareByOrder({ order, kinds }: Authority): CompareSources {
  return (a, b) => {
    const listed = order[topicOf(a) ?? 'default'] ?? order.default;
    return listed === undefined ? 0 : rankIn(listed, kinds, a) - rankIn(listed, kinds, b);
  };
}

/** Compares by the default order of kinds of source. */
export function compareByKind({ kinds }: Authority): CompareSources {
  return (a, b) => rankIn(defaultOrder, kinds, a) - rankIn(defaultOrder, kinds, b);
}

/** The newest first, by the dates that the items themselves give; those without a date last. */
export function compareByAge(a: Claim, b: Claim): number {
  return compareText(newestDate(b), newestDate(a));
}

/** By the places that say so: the last resort, the same in every run and clone. */
export function compareByPlace(a: Claim, b: Claim): number {
  return compareText(firstPlace(a), firstPlace(b));
}

/** True if all that says so has expired. */
export function isExpired({ evidence }: Pick<Claim, 'evidence'>, { today }: Authority): boolean {
  return evidence.every(({ expires }) => isPast(expires, today));
}

export function isPast(expires: string | undefined, today: string | undefined): boolean {
  return expires !== undefined && today !== undefined && expires < today;
}

function topicOf({ subject }: Claim): AuthorityTopic | undefined {
  const wiki = parseWikiSubject(subject)?.type;
  if (wiki !== undefined) return wiki === 'term' ? 'terms' : 'rules';
  const type = parseSubject(subject)?.type;
  return (
    type &&
    ({ dataset: 'datasets', field: 'fields', metric: 'metrics', relationship: 'joins' } as const)[
      type
    ]
  );
}

function rankIn(list: readonly string[], kinds: Authority['kinds'], { evidence }: Claim): number {
  const ranks = evidence.map(({ connection }) => {
    const byName = list.indexOf(connection);
    const rank = byName >= 0 ? byName : list.indexOf(kinds[connection] ?? connection);
    return rank >= 0 ? rank : list.length;
  });
  return Math.min(...ranks);
}

function newestDate({ evidence }: Claim): string {
  return evidence.map(({ dated = '' }) => dated).reduce((a, b) => (a < b ? b : a), '');
}

function firstPlace({ evidence }: Claim): string {
  const placeOf = ({ connection, item = '', location = '' }: Evidence) =>
    [connection, item, location.replaceAll(/\d+/g, (line) => line.padStart(9, '0'))].join('\n');
  return evidence.map(placeOf).reduce((a, b) => (b < a ? b : a));
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
