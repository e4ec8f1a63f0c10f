import type { ColumnFacts, TableFacts } from '../facts/table-facts.ts';
import { isMeasure } from '../names/parse-name.ts';
import { type KeyCandidate, sumWeights } from './key-candidates.ts';

const maxMembers = 7;
const maxSetsPerSize = 4;

/**
 * Sets of two or three key-like columns, for a table without a single column that is likely to be
 * its key.
 */
export function compositeCandidates(
  table: TableFacts,
  singles: readonly KeyCandidate[],
): KeyCandidate[] {
  if (table.rows === 1 || singles.some(({ score }) => score > 1)) return [];
  const members = table.columns.filter(mayBeMember).slice(0, maxMembers);
  const sets = [...pairs(members), ...triples(members)].filter((columns) =>
    hasEnoughCombinations(columns, table),
  );
  const scored = sets
    .map((columns) => ({ columns, score: compositeScore(columns) }))
    .sort((a, b) => b.score - a.score);
  return [
    ...[2, 3].flatMap((size) =>
      scored.filter(({ columns }) => columns.length === size).slice(0, maxSetsPerSize),
    ),
    ...leadingSets(table),
  ];
}

/** The sizes of keys of which only the table's first columns are tried. */
const leadingSizes = [4, 5];

/** The first columns of a table: nobody writes a key of so many columns elsewhere. */
function leadingSets(table: TableFacts): KeyCandidate[] {
  return leadingSizes.flatMap((size): KeyCandidate[] => {
    const [first, ...rest] = table.columns.slice(0, size);
    if (first === undefined || rest.length < size - 1 || table.rows === 0) return [];
    const columns = [first, ...rest] as const;
    const mayBeKey = columns.every(
      ({ family, profile }) =>
        family !== undefined && profile.nulls === 0 && profile.kind !== 'text',
    );
    const isNamed = columns.filter(({ parts }) => parts.keyed).length >= 2;
    if (!mayBeKey || !isNamed || !hasEnoughCombinations(columns, table)) return [];
    return [{ columns, score: compositeScore(columns) - size / 4 }];
  });
}

/** True if every column of the set refers to another table. */
export const isBridge = ({ columns }: Pick<KeyCandidate, 'columns'>): boolean =>
  columns.every(({ away }) => away);

function mayBeMember(column: ColumnFacts): boolean {
  if (isValidityTime(column)) return true;
  if (column.family === undefined || column.profile.nulls > 0 || column.profile.kind === 'text')
    return false;
  const isEarly = column.position < 3 && (column.family === 'integer' || !isMeasure(column.parts));
  return column.parts.keyed || isOrdinal(column) || column.family === 'date' || isEarly;
}

/**
 * The time from which a row is valid. Timestamps have no sketch, so only a query can tell whether
 * they are unique.
 */
const isValidityTime = ({ schema, profile, position }: ColumnFacts): boolean =>
  (schema.type === 'datetime' || schema.type === 'datetime_tz') &&
  profile.nulls === 0 &&
  position < 4;

const ordinalWords =
  /^(line|seq|sequence|position|pos|item|part|step|version|year|month|day|date|round|lap|language|lang|locale|number)$/;

/** True if the column numbers the rows within another key. */
const isOrdinal = ({ parts, family }: ColumnFacts): boolean =>
  family !== 'text' && parts.words.some((word) => ordinalWords.test(word));

const pairs = <T>(list: readonly T[]): [T, T][] =>
  list.flatMap((a, index) => list.slice(index + 1).map((b): [T, T] => [a, b]));
const triples = <T>(list: readonly T[]): [T, T, T][] =>
  list.flatMap((a, index) => pairs(list.slice(index + 1)).map(([b, c]): [T, T, T] => [a, b, c]));

/**
 * False if the columns have too few combinations of values to identify each row. Needs no query.
 */
function hasEnoughCombinations(
  columns: readonly ColumnFacts[],
  { rows, profile }: TableFacts,
): boolean {
  if (rows === 0) return columns.every(({ parts, position }) => parts.keyed && position < 3);
  const distinct = (column: ColumnFacts): number =>
    isValidityTime(column) ? profile.rows : column.profile.distinct;
  const combinations = columns.reduce(
    (product, column) => product * Math.max(1, distinct(column)),
    1,
  );
  return combinations >= profile.rows * 0.9;
}

/**
 * Prefers pairs to triples, foreign keys and ordinals to other columns, and early columns to late
 * ones.
 */
function compositeScore(columns: readonly ColumnFacts[]): number {
  const scores = columns.map((column, index) =>
    sumWeights([
      [true, (index - column.position) * 0.25],
      [column.away, 0.5],
      [index > 0 && !column.away && isOrdinal(column) && !isValidityTime(column), 0.8],
    ]),
  );
  return scores.reduce((sum, score) => sum + score, columns.length === 2 ? 1 : 0.2);
}
