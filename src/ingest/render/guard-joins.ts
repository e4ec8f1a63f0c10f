import { bodySchemas, type Claim } from '../../context/claims/claim.ts';
import { claimsPath, parseClaims } from '../../context/claims/claims-file.ts';
import { findPin, parsePins, pinsPath } from '../../context/claims/pins.ts';
import { parseSubject } from '../../context/claims/subject.ts';
import { canonicalJson } from '../../lib/json.ts';
import type { ConnectionFindings, ProjectFindings } from '../fetch/findings.ts';
import type { FileTree } from '../publish/project-files.ts';
import { applyWrites } from '../publish/rendering.ts';
import { renderProject } from './render.ts';
import {
  planStandingQueries,
  type StandingAnswers,
  type StandingQuery,
} from './standing-queries.ts';
import { datasetFiles } from './validate.ts';

interface GuardInput {
  /** Reads the files on disk. Called only where the scan found joins. */
  readonly read: () => Promise<FileTree>;
  /** Called only where there are new joins. */
  readonly standing: () => Promise<readonly StandingQuery[]>;
}

export interface GuardedFindings {
  readonly found: ProjectFindings;
  /** By warehouse, how many joins a person has to decide about for this. */
  readonly doubts: ReadonlyMap<string, number>;
  /** The files on disk, if they were read. */
  readonly files: FileTree | undefined;
}

/**
 * The findings in which no join that a scan has newly accepted makes a standing query ambiguous or
 * changes what it computes. Such a join is one in doubt, with its evidence and the reason: a person
 * decides. Joins of a warehouse's first scan are not asked about, since no query stood before them.
 */
export async function guardJoins(
  found: ProjectFindings,
  { read, standing }: GuardInput,
): Promise<GuardedFindings> {
  if (!found.connections.some(hasJoins)) return { found, doubts: new Map(), files: undefined };
  const files = await read();
  let guarded = found;
  const counts = new Map<string, number>();
  for (const connection of found.connections) {
    const added = listNewJoins(connection, files);
    if (added.length === 0) continue;
    const trial = { found: guarded, connection, files, standing: await standing() };
    const doubts = await findHarmfulJoins(trial, added);
    if (doubts.size > 0) guarded = replaceClaims(guarded, connection, doubts);
    counts.set(connection.catalog.connection, doubts.size);
  }
  return { found: guarded, doubts: counts, files };
}

function hasJoins({ claims = [] }: ConnectionFindings): boolean {
  return claims.some(({ kind }) => kind === 'relationship');
}

/** The joins of this scan that neither a claims file nor a pin has. */
function listNewJoins({ catalog, claims = [] }: ConnectionFindings, files: FileTree): Claim[] {
  const folder = `claims/${catalog.connection}/`;
  const isFirst = ![...files.keys()].some((path) => path.startsWith(folder));
  if (isFirst) return [];
  const { pins } = parsePins(files.get(pinsPath));
  const known = new Map<string, ReadonlySet<string>>();
  const isKnown = (claim: Claim): boolean => {
    const path = claimsPath(catalog.connection, parseSubject(claim.subject)?.dataset ?? '');
    const keys = known.get(path) ?? recordedJoins(path, files);
    known.set(path, keys);
    return keys.has(joinKey(claim));
  };
  return claims.filter(
    (claim) =>
      claim.kind === 'relationship' && !isKnown(claim) && findPin(pins, claim) === undefined,
  );
}

/** A line of a claims file that says something about a join, or where claims come from. */
const joinLine = /"kind":\s*"relationship"|^\s*\{\s*"item":/;

function recordedJoins(path: string, files: FileTree): ReadonlySet<string> {
  const text = files.get(path) ?? '';
  if (!text.includes('"kind":"relationship"')) return new Set();
  const lines = text.split('\n').filter((line) => joinLine.test(line));
  const { claims } = parseClaims(path, lines.join('\n'));
  return new Set(claims.filter(({ kind }) => kind === 'relationship').map(joinKey));
}

/** What a join connects, whatever else is said of it. */
function joinKey({ subject, body }: Claim): string {
  const { to, on } = bodySchemas.possible_relationship.parse(body);
  return `${subject} ${to} ${canonicalJson(on)}`;
}

interface JoinTrial {
  readonly files: FileTree;
  readonly standing: readonly StandingQuery[];
  readonly found: ProjectFindings;
  readonly connection: ConnectionFindings;
}

/** The joins that cannot be used beside the others, each as a claim of a join in doubt. */
async function findHarmfulJoins(
  trial: JoinTrial,
  added: readonly Claim[],
): Promise<ReadonlyMap<Claim, Claim>> {
  const before = await answersWithout(trial, new Set(added));
  const doubts = new Map<Claim, Claim>();
  /** Tries joins together, and where they do harm, each half of them beside what is in use. */
  const settle = async (joins: readonly Claim[], later: readonly Claim[]): Promise<void> => {
    const after = await answersWithout(trial, new Set([...doubts.keys(), ...later]));
    const harm = describeHarm(before, after);
    if (harm === undefined) return;
    const [join, ...others] = joins;
    if (join === undefined) return;
    if (others.length === 0) return void doubts.set(join, toDoubt(join, harm));
    const middle = Math.ceil(joins.length / 2);
    const [first, second] = [joins.slice(0, middle), joins.slice(middle)];
    await settle(first, [...second, ...later]);
    await settle(second, later);
  };
  await settle(added, []);
  return doubts;
}

async function answersWithout(
  { found, connection, files, standing }: JoinTrial,
  left: ReadonlySet<Claim>,
): Promise<StandingAnswers> {
  const claims = connection.claims?.filter((claim) => !left.has(claim));
  const own = (each: ConnectionFindings) => each.catalog === connection.catalog;
  const connections = found.connections.map((each) => (own(each) ? { ...each, claims } : each));
  const { writes } = renderProject({ ...found, connections }, files);
  const model = datasetFiles(applyWrites(files, writes), connection.catalog.connection);
  return planStandingQueries(connection, model, standing);
}

/** Queries that a reason names. */
const mostNamed = 3;

/** Which queries that had an answer have another one or none; undefined if all are as before. */
function describeHarm(before: StandingAnswers, after: StandingAnswers): string | undefined {
  const harmed = [...before].flatMap(([name, { sql }]) => {
    const now = after.get(name);
    if (sql === undefined || now === undefined || now.sql === sql) return [];
    return [`${name} would ${fateOf(now)}`];
  });
  if (harmed.length === 0) return undefined;
  const others = harmed.length - mostNamed;
  const named = harmed.sort().slice(0, mostNamed).join(', ');
  return `with it ${named}${others > 0 ? `, and ${others} more` : ''}`;
}

function fateOf({ sql, error = '' }: { readonly sql?: string; readonly error?: string }): string {
  if (sql !== undefined) return 'change';
  return error.startsWith('ambiguous') ? 'be ambiguous' : 'have no answer';
}

function toDoubt({ subject, body, evidence }: Claim, why: string): Claim {
  return {
    subject,
    kind: 'possible_relationship',
    body: bodySchemas.possible_relationship.parse(body),
    evidence: evidence.map((each) => ({
      ...each,
      measured: { ...(each.measured as object | undefined), why },
    })),
  };
}

function replaceClaims(
  found: ProjectFindings,
  { catalog }: ConnectionFindings,
  doubts: ReadonlyMap<Claim, Claim>,
): ProjectFindings {
  const connections = found.connections.map((connection) =>
    connection.catalog === catalog
      ? { ...connection, claims: connection.claims?.map((claim) => doubts.get(claim) ?? claim) }
      : connection,
  );
  return { ...found, connections };
}
