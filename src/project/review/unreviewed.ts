import { join } from 'node:path';
import { z } from 'zod';
import { parseClaims } from '../../context/claims/claims-file.ts';
import { anyJsonSchema, shortId, subjects, type Claim } from '../../context/claims/claim.ts';
import { noneOfThem, parsePins, pinsPath, type Pin } from '../../context/claims/pins.ts';
import { settleMetrics } from '../../context/compile/possible-metrics.ts';
import { readText } from '../../store/files.ts';
import { openCachedReader } from '../open/file-cache.ts';
import { listProjectFiles } from '../open/model-files.ts';
import type { Project } from '../open/open.ts';
import { authorName } from './author-name.ts';

/** A metric that only a model read, or that only queries have, and that nobody has accepted. */
export interface UnreviewedMetric {
  /** As `ktx review accept` takes it: `metric:shop.orders.net_revenue`. */
  readonly subject: string;
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

/** The claims that define or propose metrics, of one claims file. */
const readMetricClaims = openCachedReader(
  (text) =>
    text?.includes('"subject":"metric:') === true
      ? parseClaims('', text).claims.filter(
          ({ kind }) => kind === 'metric' || kind === 'possible_metric',
        )
      : [],
  readText,
);

/** Those of all warehouses, sorted by subject. */
export async function listUnreviewedMetrics(
  project: Project,
): Promise<readonly UnreviewedMetric[]> {
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
      const claims = await loadMetricClaims(project, connection);
      const read = claims.filter(({ kind, subject }) => kind === 'metric' && marked.has(subject));
      const { proposed } = settleMetrics(claims, pins);
      return [...read, ...proposed.filter(({ subject }) => !defined.has(subject))].map(
        toUnreviewed,
      );
    }),
  );
  return found.flat().sort((a, b) => (a.subject < b.subject ? -1 : 1));
}

async function loadMetricClaims({ dir }: Project, connection: string): Promise<readonly Claim[]> {
  const paths = await listProjectFiles(dir, `claims/${connection}`, /\.jsonl$/);
  return (await Promise.all(paths.map((path) => readMetricClaims(dir, path)))).flat();
}

function toUnreviewed(claim: Claim): UnreviewedMetric {
  const [evidence] = claim.evidence;
  return {
    subject: claim.subject,
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
export async function findUnreviewedMetric(
  project: Project,
  wanted: string,
): Promise<UnreviewedMetric | undefined> {
  const metrics = await listUnreviewedMetrics(project);
  const name = wanted.replace(/^metric:/, '');
  const nameOf = ({ subject }: UnreviewedMetric) => subject.slice('metric:'.length);
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
export async function createMetricPin(
  project: Project,
  metric: UnreviewedMetric,
  { isAccepted, why }: { readonly isAccepted: boolean; readonly why?: string | undefined },
): Promise<Pin> {
  const others = (await listUnreviewedMetrics(project)).filter(
    ({ subject }) => subject === metric.subject,
  );
  return {
    subject: metric.subject,
    kind: 'metric',
    choose: isAccepted ? metric.id : noneOfThem,
    seen: others.map(({ id }) => id).sort(),
    by: await authorName(project.dir),
    at: new Date().toISOString().slice(0, 10),
    // A metric of the queries stands without them.
    ...(isAccepted && metric.typed !== undefined && { says: anyJsonSchema.parse(metric.says) }),
    ...(why !== undefined && { why }),
  };
}
