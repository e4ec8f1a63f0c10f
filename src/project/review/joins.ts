import { bodySchemas, shortId, type Claim } from '../../context/claims/claim.ts';
import { datasetNames } from '../../context/catalog/dataset-names.ts';
import { parseClaims } from '../../context/claims/claims-file.ts';
import { parseSubject } from '../../context/claims/subject.ts';
import { loadUsage, usageWeight } from '../../context/usage/usage.ts';
import { noneOfThem, parsePins, pinsPath, type Pin } from '../../context/claims/pins.ts';
import { settleJoins, type JoinInDoubt } from '../../context/compile/joins-in-doubt.ts';
import { UserError } from '../../lib/error.ts';
import { didYouMean } from '../../lib/suggest.ts';
import { readText } from '../../store/files.ts';
import { openCachedReader } from '../open/file-cache.ts';
import { listProjectFiles } from '../open/model-files.ts';
import type { Project } from '../open/open.ts';
import { authorName } from './author-name.ts';
import { readWritablePins } from './decide/writable-pins.ts';

/** A join that no query uses until a person accepts it. */
export interface ReviewedJoin {
  /** As `ktx review accept` takes it: `relationship:shop.orders(customer_id)`. */
  readonly subject: string;
  /** The short id of the claim. */
  readonly id: string;
  readonly to: string;
  /** Own fields to those of `to`. */
  readonly on: Readonly<Record<string, string>>;
  readonly why: string;
  /** 0..1 in tenths. */
  readonly confidence: number;
  readonly quote?: string | undefined;
  readonly item?: string | undefined;
}

const readPins = openCachedReader(parsePins);
/** The claims about joins in a claims file. */
const readJoinClaims = openCachedReader(
  (text) =>
    text?.includes('"subject":"relationship:') === true
      ? parseClaims('', relationshipLines(text)).claims
      : [],
  readText,
);

/** With the lines that say where the table and the items are. */
function relationshipLines(text: string): string {
  return text
    .split('\n')
    .filter(
      (line) => line.includes('"subject":"relationship:') || /^\{"(?:table|item)":/.test(line),
    )
    .join('\n');
}

/**
 * The joins in doubt of all warehouses: those of the tables that people use most first, then the
 * likeliest. Reads only files in git.
 */
export async function listJoinsInDoubt(project: Project): Promise<readonly ReviewedJoin[]> {
  const { pins } = await readPins(project.dir, pinsPath);
  const joins = await Promise.all(
    project.warehouses.map(async (connection) => {
      const claims = await loadJoinClaims(project, connection);
      const weightOf = await openUsageWeights(project, connection);
      return settleJoins(claims, pins).inDoubt.map((doubt) => ({
        ...toReviewedJoin(doubt),
        weight: weightOf(parseSubject(doubt.claim.subject)?.dataset ?? ''),
      }));
    }),
  );
  return joins
    .flat()
    .sort(
      (a, b) =>
        b.weight - a.weight || b.confidence - a.confidence || (a.subject < b.subject ? -1 : 1),
    )
    .map(({ weight: _weight, ...doubt }) => doubt);
}

/** The joins that queries use and that have claims, each with the ids of all about its columns. */
export async function listJoinsInUse(
  project: Project,
): Promise<readonly { readonly subject: string; readonly ids: readonly string[] }[]> {
  const { pins } = await readPins(project.dir, pinsPath);
  const joins = project.warehouses.map(async (connection) => {
    const claims = await loadJoinClaims(project, connection);
    const bySubject = Map.groupBy(claims.filter(isAboutJoin), ({ subject }) => subject);
    const used = settleJoins(claims, pins).claims.filter(({ kind }) => kind === 'relationship');
    return [...new Set(used.map(({ subject }) => subject))].map((subject) => ({
      subject,
      ids: (bySubject.get(subject) ?? []).map(shortId).sort(),
    }));
  });
  return (await Promise.all(joins)).flat();
}

/** True for a claim that says that there is a join, or may be one. */
export function isAboutJoin({ kind }: Claim): boolean {
  return kind === 'relationship' || kind === 'possible_relationship';
}

/** How much people use the table of a dataset, from 0 to 1. */
export async function openUsageWeights(
  project: Project,
  connection: string,
): Promise<(dataset: string) => number> {
  const [catalog, findUsage] = await Promise.all([
    project.catalog(connection),
    loadUsage(project.dir, connection),
  ]);
  if (catalog === undefined) return () => 0;
  const names = datasetNames(catalog);
  const tables = new Map(catalog.tables.map((table) => [names.dataset(table), table]));
  return (dataset) => {
    const table = tables.get(dataset);
    return usageWeight(table && findUsage(table)?.runs);
  };
}

/** The claims about joins of a warehouse, used and in doubt. */
export async function loadJoinClaims(
  { dir }: Project,
  connection: string,
): Promise<readonly Claim[]> {
  const paths = await listProjectFiles(dir, `claims/${connection}`, /\.jsonl$/);
  return (await Promise.all(paths.map((path) => readJoinClaims(dir, path)))).flat();
}

function toReviewedJoin({ claim, why }: JoinInDoubt): ReviewedJoin {
  const { to, on } = bodySchemas.possible_relationship.parse(claim.body);
  const [evidence] = claim.evidence;
  return {
    subject: claim.subject,
    id: shortId(claim),
    to,
    on,
    why,
    confidence: Math.max(0, ...claim.evidence.map(({ confidence }) => confidence)),
    quote: evidence?.quote,
    item: evidence?.item,
  };
}

interface JoinDecision {
  /** The subject of a join, or the beginning of its id. */
  readonly join: string;
  readonly isAccepted: boolean;
  /** The name of an accepted join in queries, in place of the one that it has. */
  readonly role?: string | undefined;
  readonly why?: string | undefined;
}

/**
 * Turns a decision about a join into a pin; throws an error with the choices if there is no such
 * join. Joins in use can be rejected as well.
 */
export async function createJoinPin(project: Project, decision: JoinDecision): Promise<Pin> {
  await readWritablePins(project);
  const claims = (
    await Promise.all(project.warehouses.map((connection) => loadJoinClaims(project, connection)))
  )
    .flat()
    .filter(isAboutJoin);
  const chosen = chooseJoin(claims, decision);
  const pin = {
    subject: chosen.subject,
    kind: 'relationship',
    choose: decision.isAccepted ? shortId(chosen) : noneOfThem,
    seen: claims
      .filter(({ subject }) => subject === chosen.subject)
      .map(shortId)
      .sort(),
    ...(decision.isAccepted && { says: withRole(chosen, decision.role) }),
    by: await authorName(project),
    at: new Date().toISOString().slice(0, 10),
  };
  return decision.why === undefined ? pin : { ...pin, why: decision.why };
}

function withRole({ body }: Claim, role: string | undefined): Claim['body'] {
  return role === undefined ? body : { ...bodySchemas.relationship.parse(body), role };
}

/** The one claim that the words of a person mean. */
function chooseJoin(claims: readonly Claim[], { join: wanted, isAccepted }: JoinDecision): Claim {
  const name = wanted.replace(/^relationship:/, '').replaceAll(' ', '');
  const nameOf = ({ subject }: Claim) => subject.slice('relationship:'.length);
  const withoutConnection = (claim: Claim) => nameOf(claim).slice(nameOf(claim).indexOf('.') + 1);
  const matches = claims.filter(
    (claim) =>
      nameOf(claim) === name ||
      withoutConnection(claim) === name ||
      (wanted.length >= 4 && shortId(claim).startsWith(wanted)),
  );
  const [match, ...others] = matches;
  const isClear = new Set(matches.map(({ subject }) => subject)).size === 1;
  if (match !== undefined && isClear && (others.length === 0 || !isAccepted)) return match;
  if (match !== undefined)
    throw new UserError('join_ambiguous', `${wanted} could be several joins.`, {
      hint: `Name one by its id: ${matches.map((claim) => `${shortId(claim)} (to ${bodySchemas.possible_relationship.parse(claim.body).to})`).join(' or ')}`,
      exitCode: 2,
    });
  const known = [...new Set(claims.map(withoutConnection))].sort();
  throw new UserError('join_unknown', `There is no join ${wanted}.`, {
    hint: didYouMean(name, known) ?? 'ktx review list shows the joins in doubt',
    exitCode: 2,
    details: { choices: known.slice(0, 50) },
  });
}
