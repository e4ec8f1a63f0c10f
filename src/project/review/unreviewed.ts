import { join } from 'node:path';
import { z } from 'zod';
import { parseClaims } from '../../context/claims/claims-file.ts';
import {
  anyJsonSchema,
  bodySchemas,
  isUnreviewed,
  shortId,
  subjects,
  type Claim,
  type ClaimKind,
} from '../../context/claims/claim.ts';
import { findPin, noneOfThem, parsePins, pinsPath, type Pin } from '../../context/claims/pins.ts';
import { settleMetrics } from '../../context/compile/possible-metrics.ts';
import { UserError } from '../../lib/error.ts';
import { artifactPath } from '../../context/merge/merge-dataset.ts';
import { readText } from '../../store/files.ts';
import { openCachedReader } from '../open/file-cache.ts';
import { listProjectFiles } from '../open/model-files.ts';
import type { Project } from '../open/open.ts';
import { authorName } from './author-name.ts';

/**
 * A metric, or the time of a dataset, that only a model read, names suggest, or only queries have,
 * and that nobody has accepted; or a row rule that another tool has.
 */
export interface UnreviewedFact {
  /** As `ktx review accept` takes it: `metric:shop.orders.net_revenue`, `dataset:shop.orders`. */
  readonly subject: string;
  readonly kind: 'metric' | 'default_time' | 'access';
  /** The short id of the claim. */
  readonly id: string;
  /** The definition, without its name. */
  readonly says: unknown;
  /** What the model quotes for it, and where that stands. */
  readonly quote?: string | undefined;
  readonly item?: string | undefined;
  /** How often people type it, in words, if it is from their queries: then no file has it yet. */
  readonly typed?: string | undefined;
}

const definingKinds: ReadonlySet<ClaimKind> = new Set([
  'metric',
  'possible_metric',
  'default_time',
  'possible_access',
]);

/** The claims that define or propose metrics and times, of one claims file. */
const readDefinitions = openCachedReader(
  (text) =>
    /"subject":"metric:|"kind":"(?:default_time|possible_access)"/.test(text ?? '')
      ? parseClaims('', text ?? '').claims.filter(({ kind }) => definingKinds.has(kind))
      : [],
  readText,
);

/**
 * Those of all warehouses: what people type, what a model read, what names suggest; each sorted by
 * subject.
 */
export async function listUnreviewed(project: Project): Promise<readonly UnreviewedFact[]> {
  const { pins } = parsePins(await readText(join(project.dir, pinsPath), project.dir));
  const found = await Promise.all(
    project.warehouses.map(async (connection) => {
      const { model } = await project.model(connection);
      const metrics = [...model.datasets.values()].flatMap(({ name: dataset, metrics: own }) =>
        [...own.values()].map(({ name, unreviewed }) => ({
          subject: subjects.metric(connection, dataset, name),
          isMarked: unreviewed === true,
        })),
      );
      const defined = new Set(metrics.map(({ subject }) => subject));
      const marked = new Set(
        metrics.filter(({ isMarked }) => isMarked).map(({ subject }) => subject),
      );
      const times = new Set(
        [...model.datasets.values()].flatMap(({ name, isTimeUnreviewed }) =>
          isTimeUnreviewed ? [subjects.dataset(connection, name)] : [],
        ),
      );
      const claims = await loadDefinitions(project, connection);
      const restricted = new Set(
        [...model.datasets.values()].flatMap(({ name, access }) =>
          access === undefined ? [] : [subjects.dataset(connection, name)],
        ),
      );
      const rules = claims.filter(
        (claim) =>
          claim.kind === 'possible_access' &&
          !restricted.has(claim.subject) &&
          !isRejectedRule(claim, pins),
      );
      const read = claims.filter(
        (claim) =>
          isUnreviewed(claim) &&
          (claim.kind === 'metric' ? marked : times).has(claim.subject) &&
          !proposedKinds.has(claim.kind),
      );
      const { proposed } = settleMetrics(claims, pins);
      const open = proposed.filter(({ subject }) => !defined.has(subject));
      return [...rules, ...read, ...open].map(toUnreviewed);
    }),
  );
  const weight = ({ typed, quote, kind }: UnreviewedFact) => {
    if (typed !== undefined || kind === 'access') return 0;
    return quote === undefined ? 2 : 1;
  };
  return found.flat().sort((a, b) => weight(a) - weight(b) || (a.subject < b.subject ? -1 : 1));
}

const proposedKinds: ReadonlySet<ClaimKind> = new Set(['possible_metric', 'possible_access']);

function isRejectedRule(claim: Claim, pins: readonly Pin[]): boolean {
  const pin = findPin(pins, { subject: claim.subject, kind: 'access' });
  return pin?.choose === noneOfThem && pin.seen.includes(shortId(claim));
}

async function loadDefinitions({ dir }: Project, connection: string): Promise<readonly Claim[]> {
  const paths = await listProjectFiles(dir, `claims/${connection}`, /\.jsonl$/);
  return (await Promise.all(paths.map((path) => readDefinitions(dir, path)))).flat();
}

const kinds: ReadonlyMap<ClaimKind, UnreviewedFact['kind']> = new Map([
  ['default_time', 'default_time'],
  ['possible_access', 'access'],
]);

function toUnreviewed(claim: Claim): UnreviewedFact {
  const [evidence] = claim.evidence;
  return {
    subject: claim.subject,
    kind: kinds.get(claim.kind) ?? 'metric',
    id: shortId(claim),
    says: claim.body,
    quote: evidence?.quote,
    item: evidence?.item,
    ...(claim.kind === 'possible_metric' && { typed: describeTyping(evidence?.measured) }),
  };
}

const typingSchema = z.object({ runs: z.string(), users: z.string().optional() });

function describeTyping(measured: unknown): string {
  const { runs, users } = typingSchema.catch({ runs: 'several' }).parse(measured);
  return `typed ${runs} times${users === undefined ? '' : ` by ${users} people`}`;
}

/** The unreviewed metric that the words of a person mean; undefined if they mean none. */
export async function findUnreviewed(
  project: Project,
  wanted: string,
): Promise<UnreviewedFact | undefined> {
  const metrics = await listUnreviewed(project);
  const name = wanted.replace(/^(metric|dataset):/, '');
  const nameOf = ({ subject }: UnreviewedFact) => subject.slice(subject.indexOf(':') + 1);
  const matches = metrics.filter(
    (metric) =>
      nameOf(metric) === name ||
      nameOf(metric).slice(nameOf(metric).indexOf('.') + 1) === name ||
      (wanted.length >= 4 && metric.id.startsWith(wanted)),
  );
  const isOne = new Set(matches.map(({ subject }) => subject)).size === 1;
  return isOne ? matches[0] : undefined;
}

/** A person's decision about an unreviewed metric. */
export async function createReviewPin(
  project: Project,
  metric: UnreviewedFact,
  { isAccepted, why }: { readonly isAccepted: boolean; readonly why?: string | undefined },
): Promise<Pin> {
  if (metric.kind === 'access' && isAccepted) throw rolesMissing(metric);
  const others = (await listUnreviewed(project)).filter(
    ({ subject, kind }) => subject === metric.subject && kind === metric.kind,
  );
  return {
    subject: metric.subject,
    kind: metric.kind,
    choose: isAccepted ? metric.id : noneOfThem,
    seen: others.map(({ id }) => id).sort(),
    by: await authorName(project),
    at: new Date().toISOString().slice(0, 10),
    // A metric of the queries stands without them.
    ...(isAccepted && metric.typed !== undefined && { says: anyJsonSchema.parse(metric.says) }),
    ...(why !== undefined && { why }),
  };
}

/** Another tool knows attributes of users, ktx roles: only a person can say which is which. */
function rolesMissing({ subject, says }: UnreviewedFact): UserError {
  const [, connection = '', dataset = ''] = /^dataset:([^.]+)\.(.+)$/.exec(subject) ?? [];
  const { field, attribute } = bodySchemas.possible_access.parse(says);
  const rule = `{role: <role>, where: "${field} = '<${attribute}>'"}`;
  return new UserError('roles_needed', 'A row rule needs the roles that see the rows.', {
    hint: `In ${artifactPath(connection, dataset)} write access: [${rule}, {role: admin, where: 'true'}]`,
    exitCode: 2,
  });
}
