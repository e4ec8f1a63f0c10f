import type { LinkFinding } from '../../context/catalog/catalog.ts';
import { tableKey } from '../../sql/dialect.ts';
import { findCandidates } from './find-candidates.ts';
import { compositeLinks, inferredLink } from './composite-links.ts';
import type { ScanConfig } from '../config.ts';
import { confirm } from './confirm-candidates.ts';
import type { ColumnFacts, TableFacts } from '../facts/table-facts.ts';
import type { Candidate } from './features.ts';
import type { KeyFindings } from '../keys/find-keys.ts';
import type { ScanContext } from '../profile/profile-table.ts';
import { matchNames } from '../names/name-match.ts';
import type { ObservedJoins } from './observed-joins.ts';
import { groupByChild, ranked } from './rank-candidates.ts';

interface LinksContext extends ScanContext {
  /** What people's queries join. */
  readonly seen: ObservedJoins;
}

/** Declared links, and those that values and names prove; at most one accepted inferred link leads from a column. */
export async function findLinks(
  tables: readonly TableFacts[],
  keys: KeyFindings,
  context: LinksContext,
): Promise<LinkFinding[]> {
  const declared = tables.flatMap(declaredLinks);
  const known = new Set(
    declared.flatMap(({ from }) =>
      from.columns.length === 1 ? [tableKey(from.table) + from.columns[0]] : [],
    ),
  );
  const candidates = findCandidates(tables, keys.parents, context.seen).filter(
    ({ child }) => !known.has(child.id),
  );
  const judged = groupByChild(await confirm(candidates, context)).flatMap((group) =>
    choose(group, context.config),
  );
  const composite = await compositeLinks(tables, { keys, declared }, context);
  const links = withRoles(
    [...declared, ...withoutCycles(judged).map(finding), ...composite],
    tables,
  );
  const uniques = uniqueColumns(tables, keys);
  const isUnique = ({ table, columns }: LinkFinding['from']): boolean =>
    uniques.has(placeOf({ table, columns: columns.toSorted() }));
  const placed = links.map((link) => {
    const cardinality: LinkFinding['cardinality'] = isUnique(link.from)
      ? 'one_to_one'
      : 'many_to_one';
    return { link: { ...link, cardinality }, place: placeOf(link.from) + placeOf(link.to) };
  });
  return placed.sort((a, b) => (a.place < b.place ? -1 : 1)).map(({ link }) => link);
}

function declaredLinks({ schema, ref }: TableFacts): LinkFinding[] {
  const accepted = {
    status: 'accepted',
    origin: 'declared',
    cardinality: 'many_to_one',
    probability: 1,
    evidence: {},
  } as const;
  return schema.foreignKeys.map(({ columns, to }) => ({
    from: { table: ref, columns },
    to,
    ...accepted,
  }));
}

type Judged = Candidate &
  Pick<LinkFinding, 'probability' | 'status'> & { readonly why?: string | undefined };

function choose(group: readonly Candidate[], { accept, review }: ScanConfig): Judged[] {
  const all = ranked(group);
  const best = all[0]?.probability ?? 0;
  return all.map((candidate, index): Judged => {
    const { probability, typeColumn } = candidate;
    const status = probability < review ? 'rejected' : 'review';
    if (typeColumn !== undefined) {
      const why = `polymorphic: ${typeColumn.name} tells which table is meant`;
      return { ...candidate, status: typeColumn.tables.length > 0 ? 'review' : status, why };
    }
    // A column refers to one parent: where the best is right, no other is.
    if (index > 0)
      return {
        ...candidate,
        probability: probability * (1 - best),
        status: 'rejected',
        why: 'another parent fits better',
      };
    const why = doubtOf(candidate);
    if (why === noRows)
      return { ...candidate, probability: probability * bareName(candidate), status, why };
    return {
      ...candidate,
      status: probability >= accept && why === undefined ? 'accepted' : status,
      why,
    };
  });
}

const noRows = 'no rows to judge by';

/** The probability is trained on columns with values, of which a name alone says less, and little of its own table's key. */
const bareName = ({ names, isOwnKey }: Candidate): number =>
  isOwnKey || names.best < 0.75 ? 0.2 : 0.7;

/** Why a likely link still is a person's to accept. */
function doubtOf({
  child,
  parent: { column, prior, primary },
  names,
  values,
  rivals,
  isOwnKey,
  isOpen,
}: Candidate): string | undefined {
  if (child.table.schema.kind === 'view' || column.table.schema.kind === 'view') return 'a view';
  if (isOpen) return 'many keys fit equally well';
  if (child.present > 0 && column.table.rows > 0)
    return values.orphans === undefined ? 'not confirmed' : undefined;
  const isSame = names.best >= 0.9 && child.parts.words.at(-1) === column.parts.words.at(-1);
  // Nothing but the name speaks: it has to be the table's, and no other's as well.
  const isNamed =
    isSame ||
    (names.best >= 0.75 &&
      names.best >= rivals.name + 0.1 &&
      (child.parts.keyed || names.full >= 0.95));
  const isKey = primary && prior > 0.55 && !column.away && child.schema.type === column.schema.type;
  return isNamed && isKey && !isOwnKey ? undefined : noRows;
}

/** Of two columns that refer to each other, the likelier direction stays. */
function withoutCycles(judged: readonly Judged[]): Judged[] {
  const likely = judged.filter(({ status }) => status !== 'rejected');
  const live = new Map(
    likely.map((entry) => [`${entry.child.id}>${entry.parent.column.id}`, entry]),
  );
  return judged.map((entry) => {
    const [child, parent] = [entry.child.id, entry.parent.column.id];
    const reverse = live.get(`${parent}>${child}`);
    if (entry.status === 'rejected' || !reverse) return entry;
    const ahead = entry.probability - reverse.probability || (child < parent ? 1 : -1);
    const probability = entry.probability * (1 - reverse.probability);
    return ahead < 0
      ? { ...entry, probability, status: 'rejected', why: 'the other direction fits better' }
      : entry;
  });
}

function finding({
  child,
  parent,
  names,
  values,
  seen,
  probability,
  status,
  why,
}: Judged): LinkFinding {
  const evidence = {
    measured: values.orphans !== undefined,
    ...values,
    rows: Math.round(child.present / child.table.profile.fraction),
    name_similarity: names.best,
    key_probability: parent.prior,
    queries_joining: seen > 0 ? seen : undefined,
    why,
  };
  return inferredLink({ from: [child], to: [parent.column] }, { status, probability, evidence });
}

const placeOf = ({ table, columns }: LinkFinding['from']): string =>
  JSON.stringify([tableKey(table), columns]);

/** The places of all keys, with their columns in the order of their names: a link from them is one to one. */
function uniqueColumns(
  tables: readonly TableFacts[],
  { primaryKeys }: KeyFindings,
): ReadonlySet<string> {
  const primary = primaryKeys.filter(({ status }) => status === 'accepted');
  const unique = tables.flatMap(({ ref, schema }) =>
    schema.uniqueKeys.map((columns) => ({ table: ref, columns })),
  );
  return new Set(
    [...primary, ...unique].map(({ table, columns }) =>
      placeOf({ table, columns: columns.toSorted() }),
    ),
  );
}

/** Where several accepted links lead from one table to another, each gets the words of its columns that the target does not explain. */
function withRoles(links: readonly LinkFinding[], tables: readonly TableFacts[]): LinkFinding[] {
  const pair = ({ from, to, status }: LinkFinding): string =>
    JSON.stringify([from.table, to.table, status]);
  const groups = Map.groupBy(links, pair);
  const byKey = new Map(tables.map((table) => [tableKey(table.ref), table]));
  const columnOf = ({ table, columns }: LinkFinding['from']): ColumnFacts | undefined =>
    byKey.get(tableKey(table))?.columns.find(({ name }) => name === columns[0]);
  return links.map((link) => {
    if (link.status !== 'accepted' || (groups.get(pair(link))?.length ?? 0) < 2) return link;
    const [words, parent] = [columnOf(link.from)?.parts.entity ?? [], columnOf(link.to)];
    const targets = [parent?.table.parts.entity ?? [], parent?.parts.entity ?? []];
    const explained = Math.max(
      0,
      ...targets.map((entity) => (matchNames(words, entity).tail > 0 ? entity.length : 0)),
    );
    return {
      ...link,
      role:
        words.slice(0, words.length - explained).join('_') ||
        words.join('_') ||
        link.from.columns.join('_'),
    };
  });
}
