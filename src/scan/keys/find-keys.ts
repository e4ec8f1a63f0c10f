import type { KeyFinding } from '../../context/catalog/catalog.ts';
import { measureAll, uniquenessQuery } from '../facts/measure.ts';
import type { ColumnFacts, TableFacts } from '../facts/table-facts.ts';
import { isMeasure } from '../names/parse-name.ts';
import { isCompleteSketch } from '../profile/sketch.ts';
import type { ScanContext } from '../scan-context.ts';
import { compositeCandidates, isBridge } from './composite-keys.ts';
import { type KeyCandidate, sigmoid, singleColumnCandidates } from './key-candidates.ts';

/** A column that other tables may refer to. */
export interface ParentKey {
  readonly column: ColumnFacts;
  /** Probability that the column is its table's key. */
  readonly prior: number;
  readonly primary: boolean;
  /** True for a unique text that does not look like a key: only its name may lead to it. */
  readonly isAttribute?: boolean | undefined;
}

export interface KeyFindings {
  readonly primaryKeys: readonly KeyFinding[];
  /** All unique columns, including the primary keys of one column. */
  readonly parents: readonly ParentKey[];
}

interface TableCandidates {
  readonly table: TableFacts;
  readonly singles: readonly KeyCandidate[];
  readonly composites: readonly KeyCandidate[];
}

/**
 * Finds each table's primary key: the declared one; otherwise the best unique column by name,
 * position and type; otherwise the best unique set of two or three columns.
 */
export async function findKeys(
  tables: readonly TableFacts[],
  context: ScanContext,
): Promise<KeyFindings> {
  const candidates = tables.map((table): TableCandidates => {
    const singles = singleColumnCandidates(table);
    return { table, singles, composites: compositeCandidates(table, singles) };
  });
  const { measured, duplicated } = await checkUniqueness(candidates, context);
  const isConfirmed = (candidate: KeyCandidate): boolean =>
    measured.has(candidate) && !duplicated.has(candidate);
  const findings = candidates.map((table) => chooseKey(table, isConfirmed));
  return {
    primaryKeys: findings.flatMap(({ key }) => key ?? []),
    parents: findings.flatMap(({ parents }) => parents),
  };
}

/** Checks single columns and pairs first, and larger sets only if no pair of theirs is a key. */
async function checkUniqueness(tables: readonly TableCandidates[], context: ScanContext) {
  const isPair = ({ columns }: KeyCandidate): boolean => columns.length < 3;
  const singlesAndPairs = tables.flatMap(({ singles, composites }) => [
    ...singles,
    ...composites.filter(isPair),
  ]);
  const duplicated = await findDuplicated(singlesAndPairs, context);
  const triples = tables.flatMap(({ composites }) => {
    const uniquePairs = composites.filter((set) => isPair(set) && !duplicated.has(set));
    const containsNoKey = ({ columns }: KeyCandidate): boolean =>
      uniquePairs.every((pair) => !pair.columns.every((column) => columns.includes(column)));
    return composites.filter((set) => !isPair(set) && containsNoKey(set));
  });
  for (const candidate of await findDuplicated(triples, context)) duplicated.add(candidate);
  return { measured: new Set([...singlesAndPairs, ...triples]), duplicated };
}

/**
 * The candidates that have duplicates. A complete sketch has already proved that a single column
 * has none.
 */
async function findDuplicated(
  candidates: readonly KeyCandidate[],
  context: ScanContext,
): Promise<Set<KeyCandidate>> {
  const unproven = candidates.filter(
    ({ columns: [first, ...rest] }) => rest.length > 0 || !isCompleteSketch(first.profile.sketch),
  );
  const queries = unproven.map(({ columns }) =>
    uniquenessQuery(columns, context.warehouse.dialect),
  );
  const results = await measureAll(queries, context);
  return new Set(unproven.filter((_, index) => (results[index]?.[0] ?? 0) > 1));
}

function chooseKey(
  { table, singles, composites }: TableCandidates,
  isConfirmed: (candidate: KeyCandidate) => boolean,
) {
  const uniqueSingles = singles.filter(isConfirmed);
  const uniqueColumns = new Set(
    table.rows > 0 ? uniqueSingles.flatMap(({ columns }) => columns) : [],
  );
  // A set with a column that is unique by itself is no better key, except in a bridge table.
  const uniqueSets = composites.filter(
    (set) =>
      isConfirmed(set) &&
      !set.columns.some(
        (column) =>
          uniqueColumns.has(column) &&
          (column.home >= 0.8 ||
            !(isBridge(set) && (isNamedByColumns(set, table) || isUniqueByChance(column)))),
      ),
  );
  const smallestSets = uniqueSets.filter(
    (set) => !uniqueSets.some((smaller) => isWithin(smaller, set)),
  );
  const found = bestKey(table, [...uniqueSingles, ...smallestSets]);
  const key = declaredKey(table) ?? found;
  const surrogate = found !== key && isSurrogate(found, table) ? found : undefined;
  return { key, parents: uniqueSingles.flatMap((single) => parentKey(single, key, surrogate)) };
}

/**
 * True for the `id` of accounts whose declared key is their number: other tables refer to it all
 * the same.
 */
function isSurrogate(found: KeyFinding | undefined, { columns }: TableFacts): boolean {
  const column = columns.find(({ name }) => found?.columns.join() === name);
  if (column === undefined || found?.status !== 'accepted') return false;
  const isNumber = column.family === 'integer' || column.profile.kind === 'uuid';
  return isNumber && column.parts.keyed && column.home >= 0.8;
}

/** True if a larger set, of a table's first columns, has all columns of the set and more. */
const isWithin = (set: KeyCandidate, larger: KeyCandidate): boolean =>
  larger.columns.length > Math.max(3, set.columns.length) &&
  set.columns.every((column) => larger.columns.includes(column));

/** True for `film_category(film_id, category_id)`, even while each film has one category. */
function isNamedByColumns({ columns }: KeyCandidate, { parts }: TableFacts): boolean {
  const words = new Set(columns.flatMap((column) => column.parts.entity));
  return parts.entity.length > 1 && parts.entity.every((word) => words.has(word));
}

/**
 * True if as many rows would often refer to different keys by chance, given the span of the values.
 */
function isUniqueByChance({ profile: { min, max }, present }: ColumnFacts): boolean {
  const keys = min === undefined || max === undefined ? 1000 : Math.max(1, max - min + 1);
  return Math.exp(-(present ** 2) / (2 * keys)) > 0.05;
}

function declaredKey({ ref, schema: { primaryKey: columns } }: TableFacts): KeyFinding | undefined {
  if (columns === undefined) return undefined;
  const declared = { status: 'accepted', origin: 'declared', probability: 1 } as const;
  return { table: ref, columns, ...declared, evidence: {} };
}

function bestKey(
  { ref, rows, profile }: TableFacts,
  candidates: readonly KeyCandidate[],
): KeyFinding | undefined {
  const [best, second] = candidates.toSorted(
    (a, b) => b.score - a.score || a.columns.length - b.columns.length,
  );
  if (best === undefined) return undefined;
  // The only candidate is more likely to be the key.
  const probability = sigmoid(best.score + (second ? 0 : 0.8));
  if (probability < 0.2) return undefined;
  const columnNames = ({ columns }: KeyCandidate): string[] => columns.map(({ name }) => name);
  // The rule of three: if n rows have no duplicate, the share of duplicates is below 3 / n with 95
  // % confidence.
  const sampled: KeyFinding['evidence'] =
    profile.fraction < 1
      ? { duplicates_below: Math.min(1, 3 / (profile.rows * profile.fraction)) }
      : {};
  const why = reasonToDoubt(best, rows);
  const evidence = {
    rows,
    unique: profile.rows > 0,
    ...sampled,
    ...(second ? { next_best: columnNames(second) } : {}),
    ...(why === undefined ? {} : { why }),
  };
  const status = probability >= 0.5 && why === undefined ? 'accepted' : 'review';
  return {
    table: ref,
    columns: columnNames(best),
    status,
    origin: 'inferred',
    probability,
    evidence,
  };
}

/** In so few rows most columns have no duplicates by chance. */
const fewRows = 10;

/** Why the key is a guess, whatever its probability; undefined if the rows say something. */
function reasonToDoubt({ columns }: KeyCandidate, rows: number): string | undefined {
  if (rows === 0) return 'no rows to judge by';
  const isNamedKey = columns.length === 1 && columns[0].parts.keyed && columns[0].home >= 0.8;
  return rows < fewRows && !isNamedKey ? 'too few rows to judge by' : undefined;
}

/**
 * Columns other than the primary key are rarely referred to, and those that do not look like a key
 * never are.
 */
function parentKey(
  { columns: [column], score }: KeyCandidate,
  ...keys: readonly (KeyFinding | undefined)[]
): ParentKey[] {
  const own = keys.find((key) => key?.columns.length === 1 && key.columns[0] === column.name);
  if (own !== undefined) return [{ column, prior: own.probability, primary: true }];
  if (isMeasure(column.parts) || column.table.rows < 3) return [];
  if (score >= -1.5) return [{ column, prior: sigmoid(score) * 0.5, primary: false }];
  const isText = column.family === 'text' && column.profile.nulls === 0;
  return isText ? [{ column, prior: sigmoid(-1.5) * 0.5, primary: false, isAttribute: true }] : [];
}
