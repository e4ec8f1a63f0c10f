import type { KeyFinding } from '../../context/catalog/catalog.ts';
import type { ColumnFacts, TableFacts } from '../facts/table-facts.ts';
import { measureAll, uniquenessQuery } from '../facts/measure.ts';
import type { ScanContext } from '../profile/profile-table.ts';
import { isMeasure } from '../names/parse-name.ts';
import { isWhole } from '../profile/sketch.ts';

/** A column that other tables may refer to. */
export interface ParentKey {
  readonly column: ColumnFacts;
  /** Probability that it is its table's key. */
  readonly prior: number;
  readonly primary: boolean;
}

export type KeyFindings = Awaited<ReturnType<typeof findKeys>>;

interface Candidate {
  readonly columns: readonly [ColumnFacts, ...ColumnFacts[]];
  /** Log odds that it is the table's primary key. */
  readonly score: number;
}

/**
 * Finds each table's primary key: declared, else unique columns by name, position, type; else a composite. `parents` are the
 * unique columns, the primary ones included.
 */
export async function findKeys(tables: readonly TableFacts[], context: ScanContext) {
  const all = tables.map((table) => {
    const singles = singleCandidates(table);
    return { table, singles, composites: compositeCandidates(table, singles) };
  });
  const isPair = ({ columns }: Candidate): boolean => columns.length < 3;
  const first = all.flatMap(({ singles, composites }) => [
    ...singles,
    ...composites.filter(isPair),
  ]);
  const refuted = await repeated(first, context);
  // Three columns where no two of them are a key.
  const triples = all.flatMap(({ composites }) => {
    const standing = composites.filter((set) => isPair(set) && !refuted.has(set));
    const isNew = ({ columns }: Candidate): boolean =>
      standing.every((pair) => !pair.columns.every((column) => columns.includes(column)));
    return composites.filter((set) => !isPair(set) && isNew(set));
  });
  for (const set of await repeated(triples, context)) refuted.add(set);
  const tried = new Set([...first, ...triples]);
  const found = all.map(({ table, singles, composites }) => {
    const unique = singles.filter((single) => !refuted.has(single));
    const alone = new Set(table.rows > 0 ? unique.flatMap(({ columns }) => columns) : []);
    const sets = composites.filter(
      (set) =>
        tried.has(set) &&
        !refuted.has(set) &&
        (isBridge(set) || !set.columns.some((column) => alone.has(column))),
    );
    const key = declaredKey(table) ?? bestKey(table, [...unique, ...sets]);
    return { key, parents: unique.flatMap((single) => parentKey(single, key)) };
  });
  return {
    primaryKeys: found.flatMap(({ key }) => key ?? []),
    parents: found.flatMap(({ parents }) => parents),
  };
}

/** Those with duplicates. */
async function repeated(
  candidates: readonly Candidate[],
  context: ScanContext,
): Promise<Set<Candidate>> {
  const unsure = candidates.filter(
    ({ columns: [one, ...others] }) => others.length > 0 || !isWhole(one.profile.sketch),
  );
  const statements = unsure.map(({ columns }) =>
    uniquenessQuery(columns, context.warehouse.dialect),
  );
  const measured = await measureAll(statements, context);
  return new Set(unsure.filter((_, index) => (measured[index]?.[0] ?? 0) > 1));
}

function declaredKey({ ref, schema: { primaryKey: columns } }: TableFacts): KeyFinding | undefined {
  return (
    columns && {
      table: ref,
      columns,
      status: 'accepted',
      origin: 'declared',
      probability: 1,
      evidence: {},
    }
  );
}

/** Columns without duplicates, as far as the profile can tell; in an empty table those that look like its key. */
function singleCandidates({ schema, columns }: TableFacts): Candidate[] {
  const keys = [schema.primaryKey ?? [], ...schema.uniqueKeys];
  return columns.flatMap((column) => {
    const { profile, present, name } = column;
    const declared = keys.some((key) => key.length === 1 && key[0] === name);
    const unique = isWhole(profile.sketch)
      ? profile.distinct === present
      : profile.distinct >= present * 0.85;
    if (column.family === undefined || (!declared && !unique)) return [];
    return [{ columns: [column], score: Math.max(declared ? 2 : -99, keyScore(column)) }];
  });
}

/** The weights of what holds, added up. */
function weigh(reasons: readonly (readonly [boolean, number])[]): number {
  return reasons.reduce((total, [holds, weight]) => total + (holds ? weight : 0), 0);
}

function keyScore({ parts, profile, position, table, family, home, away }: ColumnFacts): number {
  const first = position === 0;
  const isExtension = parts.entity.every((word) => table.parts.entity.includes(word));
  return weigh([
    [true, -1.6 + (home >= 0.8 ? 2 : home * 1.2)],
    [first, 1.6],
    [parts.keyed, 1.2],
    [family === 'integer' || profile.kind === 'uuid', 0.8],
    [isMeasure(parts), first ? -1 : -2.5],
    [profile.kind === 'text', -3],
    [profile.nulls > 0, -4],
    [away, isExtension || (first && profile.distinct >= 20) ? -1 : -2.2],
  ]);
}

/** Sets of two or three key-shaped columns, for tables that no column of their own identifies. */
function compositeCandidates(table: TableFacts, singles: readonly Candidate[]): Candidate[] {
  if (table.rows === 1 || singles.some(({ score }) => score > 1)) return [];
  const members = table.columns.filter(isMember).slice(0, 7);
  const sets = [...pairs(members), ...triples(members)].filter((columns) =>
    mayIdentify(columns, table),
  );
  const scored = sets
    .map((columns) => ({ columns, score: compositeScore(columns) }))
    .sort((a, b) => b.score - a.score);
  return [2, 3].flatMap((size) =>
    scored.filter(({ columns }) => columns.length === size).slice(0, 4),
  );
}

/** Since when a row holds: no statistics are kept of it, and a query tells. */
const isMoment = ({ schema, profile, position }: ColumnFacts): boolean =>
  (schema.type === 'datetime' || schema.type === 'datetime_tz') &&
  profile.nulls === 0 &&
  position < 4;

function isMember(column: ColumnFacts): boolean {
  if (isMoment(column)) return true;
  if (column.family === undefined || column.profile.nulls > 0 || column.profile.kind === 'text')
    return false;
  const early = column.position < 3 && (column.family === 'integer' || !isMeasure(column.parts));
  return column.parts.keyed || isOrdinal(column) || column.family === 'date' || early;
}

const ordinals =
  /^(line|seq|sequence|position|pos|item|part|step|version|year|month|day|date|round|lap|language|lang|locale|number)$/;
const isOrdinal = ({ parts, family }: ColumnFacts): boolean =>
  family !== 'text' && parts.words.some((word) => ordinals.test(word));

const pairs = <T>(list: readonly T[]): [T, T][] =>
  list.flatMap((a, index) => list.slice(index + 1).map((b): [T, T] => [a, b]));
const triples = <T>(list: readonly T[]): [T, T, T][] =>
  list.flatMap((a, index) => pairs(list.slice(index + 1)).map(([b, c]): [T, T, T] => [a, b, c]));

/** Checked without a query: enough combinations. */
function mayIdentify(columns: readonly ColumnFacts[], { rows, profile }: TableFacts): boolean {
  if (rows === 0) return columns.every(({ parts, position }) => parts.keyed && position < 3);
  const distinct = (column: ColumnFacts): number =>
    isMoment(column) ? profile.rows : column.profile.distinct;
  return (
    columns.reduce((product, column) => product * Math.max(1, distinct(column)), 1) >=
    profile.rows * 0.9
  );
}

/** Pairs before triples, foreign keys and what counts within them before the rest, the leading columns before later ones. */
function compositeScore(columns: readonly ColumnFacts[]): number {
  const each = columns.map((column, index) =>
    weigh([
      [true, (index - column.position) * 0.25],
      [column.away, 0.5],
      [index > 0 && !column.away && isOrdinal(column), 0.8],
    ]),
  );
  return each.reduce((sum, score) => sum + score, columns.length === 2 ? 1 : 0.2);
}

const isBridge = ({ columns }: Pick<Candidate, 'columns'>): boolean =>
  columns.every(({ away }) => away);

function bestKey(
  { ref, rows, profile }: TableFacts,
  candidates: readonly Candidate[],
): KeyFinding | undefined {
  const [best, second] = candidates.toSorted(
    (a, b) => b.score - a.score || a.columns.length - b.columns.length,
  );
  const probability = sigmoid((best?.score ?? -99) + (second ? 0 : 0.8));
  if (!best || probability < 0.2) return undefined;
  const names = ({ columns }: Candidate): string[] => columns.map(({ name }) => name);
  // The rule of three: with no duplicate seen, 95% sure that their share is below 3 / n.
  const bound: KeyFinding['evidence'] =
    profile.fraction < 1
      ? { duplicates_below: Math.min(1, 3 / (profile.rows * profile.fraction)) }
      : {};
  const evidence = {
    rows,
    unique: profile.rows > 0,
    ...bound,
    ...(second ? { next_best: names(second) } : {}),
  };
  const status = probability >= 0.5 ? 'accepted' : 'review';
  return { table: ref, columns: names(best), status, origin: 'inferred', probability, evidence };
}

/** The probability, from log odds. */
export const sigmoid = (logit: number): number => 1 / (1 + Math.exp(-logit));

/** A column beside the primary key is referred to seldom; one that does not look like a key never is. */
function parentKey(
  { columns: [column], score }: Candidate,
  key: KeyFinding | undefined,
): ParentKey[] {
  if (key?.columns.length === 1 && key.columns[0] === column.name)
    return [{ column, prior: key.probability, primary: true }];
  const unlikely = score < -1.5 || isMeasure(column.parts) || column.table.rows < 3;
  return unlikely ? [] : [{ column, prior: sigmoid(score) * 0.5, primary: false }];
}
