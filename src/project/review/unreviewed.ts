import { parseClaims } from '../../context/claims/claims-file.ts';
import { shortId, subjects, type Claim } from '../../context/claims/claim.ts';
import { noneOfThem, type Pin } from '../../context/claims/pins.ts';
import { readText } from '../../store/files.ts';
import { openCachedReader } from '../open/file-cache.ts';
import { listProjectFiles } from '../open/model-files.ts';
import type { Project } from '../open/open.ts';
import { authorName } from './author-name.ts';

/** A metric that only a model read, and that nobody has accepted. */
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
}

/** The claims that define metrics, of one claims file. */
const readMetricClaims = openCachedReader(
  (text) =>
    text?.includes('"subject":"metric:') === true
      ? parseClaims('', text).claims.filter(({ kind }) => kind === 'metric')
      : [],
  readText,
);

/** Those of all warehouses, sorted by subject. */
export async function listUnreviewedMetrics(
  project: Project,
): Promise<readonly UnreviewedMetric[]> {
  const found = await Promise.all(
    project.warehouses.map(async (connection) => {
      const { model } = await project.model(connection);
      const marked = new Set(
        [...model.datasets.values()].flatMap(({ name: dataset, metrics }) =>
          [...metrics.values()]
            .filter(({ unreviewed }) => unreviewed === true)
            .map(({ name }) => subjects.metric(connection, dataset, name)),
        ),
      );
      if (marked.size === 0) return [];
      const claims = await loadMetricClaims(project, connection);
      return claims.filter(({ subject }) => marked.has(subject)).map(toUnreviewed);
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
  };
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
    ...(why !== undefined && { why }),
  };
}
