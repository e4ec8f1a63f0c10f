import type { Claim, ClaimKind } from '../claims/claim.ts';
import { uniteClaims } from '../claims/claims-file.ts';
import { applyModelDecisions, dropOrphans } from '../claims/model-decisions.ts';
import type { Pin } from '../claims/pins.ts';
import { parseWikiSubject } from '../claims/subject.ts';
import type { Authority } from '../compile/authority.ts';
import { findBodyError, rankByKind, type Compilation } from '../compile/compile.ts';
import { findConflicts } from '../compile/conflicts.ts';
import { ownDefinitions } from '../compile/own-definitions.ts';
import { buildPages, type WikiPage } from './wiki.ts';

interface WikiCompilation extends Pick<Compilation, 'conflicts' | 'quarantined'> {
  /** Sorted by name. */
  readonly pages: readonly WikiPage[];
}

/**
 * Compiles claims about terms and rules to pages: pure, total, and independent of the order of the
 * claims.
 */
export function compileWiki(
  claims: Iterable<Claim>,
  pins: readonly Pin[],
  authority?: Authority,
): WikiCompilation {
  const all = uniteClaims([...claims, ...ownWikiDefinitions(pins)]);
  const decided = applyModelDecisions(dropOrphans(all, { pins }), pins);
  const checked = uniteClaims(decided.claims).map((claim) => ({
    claim,
    reason: findWikiClaimError(claim),
  }));
  const quarantined = checked.flatMap(({ claim, reason }) =>
    reason === undefined ? [] : [{ claim, reason }],
  );
  const sound = checked.flatMap(({ claim, reason }) => (reason === undefined ? [claim] : []));
  const bySubject = [...Map.groupBy(sound, ({ subject }) => subject)];
  const topics = bySubject.map(([subject, group]) => ({
    subject,
    byKind: rankByKind(group, { pins, authority }, decided),
  }));
  const conflicts = findConflicts(topics.flatMap(({ byKind }) => [...byKind.values()]));
  return { pages: buildPages(topics, pins), conflicts, quarantined };
}

function ownWikiDefinitions(pins: readonly Pin[]): readonly Claim[] {
  return ownDefinitions(pins).filter(({ subject }) => parseWikiSubject(subject) !== undefined);
}

const wikiKinds: ReadonlySet<ClaimKind> = new Set([
  'title',
  'definition',
  'rule',
  'refs',
  'page',
  'synonyms',
  'tags',
  'description',
  'owner',
  'url',
]);

function findWikiClaimError({ subject, kind, body }: Claim): string | undefined {
  const type = parseWikiSubject(subject)?.type;
  if (type === undefined) return 'its subject is neither a term nor a rule';
  const isOfOtherType =
    (type === 'rule' && kind === 'definition') || (type === 'term' && kind === 'rule');
  if (isOfOtherType || !wikiKinds.has(kind)) return `a ${type} cannot have a ${kind}`;
  return findBodyError({ kind, body });
}
