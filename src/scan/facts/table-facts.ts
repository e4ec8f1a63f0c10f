import { tableKey, type TableRef } from '../../sql/dialect.ts';
import type { ColumnSchema, TableSchema } from '../../warehouse/warehouse.ts';
import { createNameIndex, matchNames } from '../names/name-match.ts';
import {
  matchOtherName,
  type OtherName,
  otherNames,
  prefixOfColumns,
} from '../names/other-names.ts';
import {
  commonPrefixOf,
  isMeasure,
  type NameParts,
  parseColumnName,
  parseTableName,
  peopleScore,
  wordBeforeIdSuffix,
} from '../names/parse-name.ts';
import { peopleByColumns } from './people-by-columns.ts';
import { findPartitions, type Partition, stemOf } from '../names/partitions.ts';
import { splitNameWords } from '../names/split-words.ts';
import { idWords } from '../names/word-lists.ts';
import type { ColumnProfile, TableProfile } from '../profile/table-profile.ts';
import { comparisonFamily } from '../profile/value-kinds.ts';

/** A table with everything that keys and links are judged by. */
export interface TableFacts {
  readonly schema: TableSchema;
  readonly profile: TableProfile;
  /** Changes when the structure or the rows change. */
  readonly version: string;
  readonly ref: TableRef;
  readonly parts: NameParts;
  readonly otherNames: readonly OtherName[];
  /** Set for a part of a table: `event_2023`. */
  readonly partition?: Partition | undefined;
  readonly columns: readonly ColumnFacts[];
  /** Rows of the whole table; an estimate if the table was sampled. */
  readonly rows: number;
  /** 0..1: how likely a role of a person refers to this table. */
  readonly people: number;
  /**
   * 0..1: the share of all columns called like another table whose name has no id word: `customer`,
   * not `customer_id`. Where that is the custom, a role has none either.
   */
  readonly plain: number;
}

export interface ColumnFacts {
  readonly id: string;
  readonly name: string;
  readonly table: TableFacts;
  readonly schema: ColumnSchema;
  readonly profile: ColumnProfile;
  /** From 0. */
  readonly position: number;
  readonly parts: NameParts;
  /** Number of values that are not NULL, among the rows that were read. */
  readonly present: number;
  /**
   * Columns of one family can be compared. Undefined if the column cannot be a key, or could not be
   * read.
   */
  readonly family: ReturnType<typeof comparisonFamily>;
  /** 0..1: how well the column's name names its own table; 1 for a bare `id`. */
  readonly home: number;
  /** True if the name is that of another table, or of the first column of another table. */
  readonly away: boolean;
}

type ProfiledSchema = Pick<TableFacts, 'schema' | 'profile' | 'version'>;
type ParsedTable = ProfiledSchema & {
  readonly parts: NameParts;
  readonly otherNames: readonly OtherName[];
  readonly partition: Partition | undefined;
  readonly columnParts: readonly NameParts[];
};

/** Views repeat the rows, and with them the keys, of tables. */
export function isOfView({ table }: Pick<ColumnFacts, 'table'>): boolean {
  return table.schema.kind === 'view' || table.schema.kind === 'materialized_view';
}

export function buildTableFacts(tables: readonly ProfiledSchema[]): TableFacts[] {
  const parsed = parseNames(tables);
  const isAway = otherTableFinder(parsed);
  const plain = shareOfPlain(parsed, isAway);
  return parsed.map((table) => tableFacts(table, { isAway, plain }));
}

function shareOfPlain(tables: readonly ParsedTable[], isAway: IsAway): number {
  const named = tables.flatMap(({ schema, profile, columnParts }) =>
    columnParts.filter(
      (parts, position) =>
        profile.columns[position]?.kind === 'integer' &&
        parts.entity.length > 0 &&
        !isMeasure(parts) &&
        isAway(parts, position, schema),
    ),
  );
  const plain = named.filter(({ keyed }) => !keyed);
  return plain.length / (named.length + 1);
}

/** Names are parsed with the vocabulary of all tables, which tells where glued words part. */
function parseNames(tables: readonly ProfiledSchema[]): ParsedTable[] {
  const prefix = commonPrefixOf(tables.map(({ schema }) => schema.table));
  const partitions = findPartitions(tables.map(({ schema }) => schema));
  const withParts = tables.map((table, index) => {
    const partition = partitions.get(index);
    const name = table.schema.table;
    const written = partition ? name.slice(0, name.length - partition.suffix.length) : name;
    return { ...table, partition, parts: parseTableName(written, prefix) };
  });
  const vocabulary = new Set(
    withParts.flatMap(({ parts, schema }) => [
      ...parts.words,
      wordBeforeIdSuffix(schema.columns[0]?.name ?? '') ?? '',
    ]),
  );
  for (const word of gluedToId(tables)) vocabulary.add(word);
  vocabulary.delete('');
  // What many tables are called says nothing, nor does their key `entity_id`.
  const generic = genericWords.find(
    (word) =>
      withParts.filter(({ parts }) => parts.entity.includes(word)).length >= manyTables &&
      withParts.every(({ parts }) => parts.entity.join() !== word),
  );
  for (const [index, table] of withParts.entries())
    withParts[index] = { ...table, parts: withoutGeneric(table.parts, generic) };
  const names = otherNames(
    withParts.map(({ parts, schema }) => ({
      entity: parts.entity,
      columnNames: schema.columns.map((column) => column.name),
    })),
  );
  return withParts.map((table, index) => ({
    ...table,
    otherNames: names[index] ?? [],
    columnParts: parseColumnNames(table.schema, vocabulary).map((parts) =>
      withoutGeneric(parts, generic),
    ),
  }));
}

/**
 * The words before a glued `id`, where that is how keys are written: `templateid` beside `hostid`
 * and `itemid`. Not those of `invalid` and `unpaid`.
 */
function gluedToId(tables: readonly ProfiledSchema[]): string[] {
  const stemOfKey = (name: string): string | undefined =>
    /id$/i.test(name) ? wordBeforeIdSuffix(name) : undefined;
  const glued = tables.filter(
    ({ schema: { columns } }) => stemOfKey(columns[0]?.name ?? '') !== undefined,
  );
  if (glued.length < tables.length / 2) return [];
  return tables.flatMap(({ schema, profile }) =>
    schema.columns.flatMap(({ name }, position) => {
      const word = stemOfKey(name) ?? '';
      const isKey = ['integer', 'uuid'].includes(profile.columns[position]?.kind ?? '');
      return isKey && !/(?:pa|val)$/.test(word) ? [word] : [];
    }),
  );
}

/** What every table holds: `catalog_product_entity`. */
const genericWords = ['entity', 'entities', 'object', 'record'];
const manyTables = 3;

function withoutGeneric(parts: NameParts, generic: string | undefined): NameParts {
  if (generic === undefined || !parts.entity.includes(generic)) return parts;
  const entity = parts.entity.filter((word) => word !== generic);
  return entity.length > 0 || parts.keyed ? { ...parts, entity } : parts;
}

/**
 * A prefix that the first column of a table shares with most others (`l_orderkey`, `l_partkey`) is
 * removed: it says nothing.
 */
function parseColumnNames({ columns }: TableSchema, vocabulary: ReadonlySet<string>): NameParts[] {
  const names = columns.map(({ name }) => name);
  const common = commonPrefixOf(names);
  const written = columns[0]?.name.toLowerCase().startsWith(common)
    ? common.slice(0, common.lastIndexOf('_') + 1)
    : '';
  // `cliName, cliCountry`: the prefix ends where the case changes.
  const prefix = written === '' ? (prefixOfColumns(names) ?? '') : written;
  return columns.map(({ name }) => {
    const hasPrefix =
      name.length > prefix.length &&
      name.toLowerCase().startsWith(prefix) &&
      (written !== '' || splitNameWords(name)[0] === prefix);
    return parseColumnName(hasPrefix ? name.slice(prefix.length) : name, vocabulary);
  });
}

/** From this weight on, another name of a table is as good as its name. */
const nameOfTable = 0.9;

type IsAway = (parts: NameParts, position: number, schema: TableSchema) => boolean;

/** Returns a test: does a column name name another table, or the first column of another table? */
function otherTableFinder(tables: readonly ParsedTable[]): IsAway {
  const byFirstColumn = Map.groupBy(tables, ({ columnParts: [first] }) => first?.words.join());
  const findTables = createNameIndex(
    tables.flatMap((table) => [
      [table.parts.entity, table] as const,
      ...table.otherNames
        .filter(({ weight, group }) => weight >= nameOfTable && group === undefined)
        .map(({ words }) => [words, table] as const),
    ]),
  );
  const knownTables = new Map<string, ReturnType<typeof findTables>>();
  return (parts, position, schema) => {
    // Without an id word, only a table's whole name says that the column refers to it.
    const required = parts.keyed ? 0.8 : 0.95;
    const name = parts.entity.join(' ');
    const named =
      knownTables.get(name) ??
      findTables(parts.entity).filter(({ similarity }) => similarity >= 0.8);
    knownTables.set(name, named);
    const namesOther = named.some(
      ({ item, similarity }) => similarity >= required && item.schema !== schema,
    );
    if (namesOther || !parts.keyed) return namesOther;
    const sameFirstColumn = byFirstColumn.get(parts.words.join()) ?? [];
    return position > 0 && sameFirstColumn.some((table) => table.schema !== schema);
  };
}

function tableFacts(
  { schema, profile, version, parts, otherNames: others, partition, columnParts }: ParsedTable,
  { isAway, plain }: { readonly isAway: IsAway; readonly plain: number },
): TableFacts {
  const ref = {
    ...(schema.catalog === undefined ? {} : { catalog: schema.catalog }),
    schema: schema.schema,
    table: schema.table,
  };
  const columns: ColumnFacts[] = [];
  const rows = Math.round(profile.rows / profile.fraction);
  const byColumns = peopleByColumns(profile.columns, columnParts, parts);
  const people = Math.max(peopleScore(parts), byColumns);
  const names = { parts, otherNames: others, partition };
  const table: TableFacts = {
    schema,
    ref,
    profile,
    version,
    columns,
    rows,
    people,
    plain,
    ...names,
  };
  for (const [position, column] of schema.columns.entries()) {
    const [own, columnProfile] = [columnParts[position], profile.columns[position]];
    if (!own || !columnProfile) continue;
    const home = homeScore(own, table);
    const mayNameOther = own.entity.length > 0 && home < 0.8;
    columns.push({
      id: tableKey(ref) + column.name,
      name: column.name,
      table,
      position,
      schema: column,
      profile: columnProfile,
      parts: own,
      present: profile.rows - columnProfile.nulls,
      family:
        columnProfile.note === undefined
          ? comparisonFamily(column.type, columnProfile.kind)
          : undefined,
      home,
      away: mayNameOther && isAway(own, position, schema),
    });
  }
  return table;
}

function homeScore(column: NameParts, { parts, otherNames: others }: TableFacts): number {
  if (column.entity.length === 0) return 1;
  if (isCalledByAllWords(column, parts)) return 1;
  const named = matchNames(column.entity, parts.entity).full;
  const namedByEnding = matchNames(parts.entity, column.entity).tail * 0.7;
  const namedByOther = others.map((name) => matchOtherName(column.entity, name).full);
  return Math.max(named, namedByEnding, ...namedByOther);
}

/** True for `patient_identifier_id`: its `identifier` is no id word, since the table has it too. */
function isCalledByAllWords({ words }: NameParts, table: NameParts): boolean {
  const [first = '', last = ''] = [words[0], words.at(-1)];
  const isFirst = idWords.has(first) && isSame(words.slice(1), table.words);
  return isFirst || (idWords.has(last) && isSame(words.slice(0, -1), table.words));
}

/** True if the column measures, counts or orders: no text does, whatever it is called. */
export const isAmount = ({ parts, family, profile }: ColumnFacts): boolean =>
  isMeasure(parts) && (family !== 'text' || profile.kind === 'integer');

export const haveSameWords = (a: NameParts, b: NameParts): boolean => isSame(a.words, b.words);

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((word, index) => word === b[index]);
}

/**
 * True unless the parent is a part of a table: a column refers to the whole, if there is one, or to
 * the part of its own number (`line_2023` to `order_2023`). Parts never refer to each other.
 */
export function mayReferTo(child: TableFacts, parent: TableFacts): boolean {
  const [own, other] = [child.partition, parent.partition];
  if (other === undefined) return own === undefined || !own.hasWhole || !isWholeOf(parent, own);
  if (child === parent) return true;
  if (own?.stem === other.stem) return false;
  return own?.suffix === other.suffix || !other.hasWhole;
}

function isWholeOf({ schema }: TableFacts, { stem }: Partition): boolean {
  return stem === stemOf(schema.table.toLowerCase(), schema);
}

/** True if two columns can hold the same values. Integers may be stored as text on one side. */
export function areComparable(a: ColumnFacts, b: ColumnFacts): boolean {
  if (a.family === undefined || b.family === undefined) return false;
  if (a.family === b.family) return true;
  const text = [a, b].find(({ family }) => family === 'text');
  return text?.profile.kind === 'integer' && a.family !== 'date' && b.family !== 'date';
}
