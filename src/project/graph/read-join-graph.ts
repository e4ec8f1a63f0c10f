import { bodySchemas, shortId, type Claim } from '../../context/claims/claim.ts';
import { subjects } from '../../context/claims/claim.ts';
import {
  isAboutJoin,
  openUsageWeights,
  listJoinsInDoubt,
  loadJoinClaims,
} from '../review/joins.ts';
import type { ModelDataset, ModelRelationship } from '../../semantic/model/model.ts';
import type { Project } from '../open/open.ts';

/** How sure a join is: somebody declared it, the scan found it in the data, or nobody knows yet. */
type JoinState = 'declared' | 'accepted' | 'in_doubt';

/** A dataset of the graph, as far as a drawing needs it. */
interface GraphDataset {
  readonly name: string;
  readonly layer?: string | undefined;
  /** What one row is. */
  readonly key: readonly string[];
  readonly fields: number;
  readonly metrics: number;
  /** How much people use its table, from 0 to 1. */
  readonly usage: number;
}

/** A join of the graph: from the many side to the one side. */
interface GraphJoin {
  readonly subject: string;
  readonly from: string;
  readonly to: string;
  readonly role: string;
  /** Own columns to those of `to`; empty if the join is a condition in SQL. */
  readonly on: Readonly<Record<string, string>>;
  readonly cardinality: string;
  readonly state: JoinState;
  /** 0..1 in tenths; undefined for what only the file of the dataset says. */
  readonly confidence?: number | undefined;
  /** As `ktx review accept` takes it; undefined for what only the file of the dataset says. */
  readonly id?: string | undefined;
  /** The ids of all claims that a decision about its columns is about, as `--seen` takes them. */
  readonly seen: readonly string[];
  readonly why?: string | undefined;
  /** What was measured about the values. */
  readonly measured?: unknown;
}

export interface JoinGraph {
  readonly connection: string;
  readonly datasets: readonly GraphDataset[];
  readonly joins: readonly GraphJoin[];
}

/** The datasets of a connection and how they join: those in use, and those in doubt. */
export async function readJoinGraph(
  project: Project,
  requested: string | undefined,
): Promise<JoinGraph> {
  const { name: connection } = project.connection(requested);
  const [{ model }, claims, doubts, weightOf] = await Promise.all([
    project.model(connection),
    loadJoinClaims(project, connection),
    listJoinsInDoubt(project),
    openUsageWeights(project, connection),
  ]);
  const claimsBySubject = Map.groupBy(claims, ({ subject }) => subject);
  const datasets = [...model.datasets.values()];
  const used = datasets.flatMap(({ relationships }) =>
    relationships.map((relationship) => describeJoin(connection, relationship, claimsBySubject)),
  );
  const prefix = `relationship:${connection}.`;
  const inDoubt = doubts
    .filter(({ subject }) => subject.startsWith(prefix))
    .map(({ subject, id, to, on, why, confidence }): GraphJoin => {
      const from = subject.slice(prefix.length, subject.lastIndexOf('('));
      const measured = measuredOf(claimsBySubject.get(subject), id);
      const join = { subject, from, to, role: to, on, cardinality: 'many_to_one' };
      const seen = doubts.filter((own) => own.subject === subject).map((own) => own.id);
      return { ...join, state: 'in_doubt', confidence, id, seen, why, measured };
    });
  return {
    connection,
    datasets: datasets.map((dataset) => describeDataset(dataset, weightOf(dataset.name))),
    joins: [...used, ...inDoubt],
  };
}

function describeDataset(
  { name, layer, primaryKey = [], fields, metrics }: ModelDataset,
  usage: number,
): GraphDataset {
  return { name, layer, key: primaryKey, fields: fields.size, metrics: metrics.size, usage };
}

function describeJoin(
  connection: string,
  { from, to, name, equal, cardinality }: ModelRelationship,
  claims: ReadonlyMap<string, readonly Claim[]>,
): GraphJoin {
  const pairs = equal.flatMap(({ own, target }) =>
    own === undefined || target === undefined ? [] : [[own, target] as const],
  );
  const columns = pairs.map(([own]) => own);
  const subject = subjects.relationship(connection, from, columns);
  const evidence = (claims.get(subject) ?? []).filter(
    (claim) => bodySchemas.possible_relationship.safeParse(claim.body).data?.to === to,
  );
  const confidences = evidence.flatMap((claim) => claim.evidence.map((own) => own.confidence));
  return {
    subject,
    from,
    to,
    role: name,
    on: Object.fromEntries(pairs),
    cardinality,
    state: isDeclared(evidence) ? 'declared' : 'accepted',
    confidence: confidences.length === 0 ? undefined : Math.max(...confidences),
    id: evidence[0] && shortId(evidence[0]),
    seen: (claims.get(subject) ?? []).filter(isAboutJoin).map(shortId).sort(),
    measured: measuredOf(evidence),
  };
}

/** Without evidence only a person can have written it. */
function isDeclared(claims: readonly Claim[]): boolean {
  const evidence = claims.flatMap((claim) => claim.evidence);
  return (
    evidence.length === 0 ||
    !evidence.every(({ extractor }) => extractor.startsWith('relationships@'))
  );
}

function measuredOf(claims: readonly Claim[] = [], id?: string): unknown {
  const meant = id === undefined ? claims : claims.filter((claim) => shortId(claim) === id);
  return meant.flatMap((claim) => claim.evidence).find(({ measured }) => measured !== undefined)
    ?.measured;
}
