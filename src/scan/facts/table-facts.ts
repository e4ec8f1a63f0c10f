import { tableKey, type TableRef } from '../../sql/dialect.ts';
import type { ColumnSchema, TableSchema } from '../../warehouse/warehouse.ts';
import { familyOf } from '../profile/value-kinds.ts';
import { matchNames, createNameIndex } from '../names/name-match.ts';
import {
  parseColumnName,
  ownWord,
  sharedPrefix,
  parseTableName,
  type NameParts,
} from '../names/parse-name.ts';
import type { ColumnProfile, TableProfile } from '../profile/profile-table.ts';

/** A table with everything that keys and links are judged by. */
export interface TableFacts {
  readonly schema: TableSchema;
  readonly profile: TableProfile;
  /** Changes when the structure or the rows change. */
  readonly version: string;
  readonly ref: TableRef;
  readonly parts: NameParts;
  readonly columns: readonly ColumnFacts[];
  /** Rows of the whole table, extrapolated where it was sampled. */
  readonly rows: number;
}

export interface ColumnFacts {
  readonly id: string;
  readonly name: string;
  readonly table: TableFacts;
  readonly schema: ColumnSchema;
  readonly profile: ColumnProfile;
  readonly position: number;
  readonly parts: NameParts;
  /** Number of values that are not NULL, among what was read. */
  readonly present: number;
  /** What the column can be compared with; undefined where it cannot be a key, or could not be read. */
  readonly family: ReturnType<typeof familyOf>;
  /** 0..1: the name is that of the column's own table; 1 for a bare `id`. */
  readonly home: number;
  /** The name is that of another table, or of the key that another table starts with. */
  readonly away: boolean;
}

export function buildTableFacts(
  tables: readonly Pick<TableFacts, 'schema' | 'profile' | 'version'>[],
): TableFacts[] {
  const prefix = sharedPrefix(tables.map(({ schema }) => schema.table));
  const named = tables.map((table) => ({
    ...table,
    parts: parseTableName(table.schema.table, prefix),
  }));
  const vocabulary = new Set(
    named.flatMap(({ parts, schema }) => [
      ...parts.words,
      ownWord(schema.columns[0]?.name ?? '') ?? '',
    ]),
  );
  vocabulary.delete('');
  const split = named.map((table) => ({
    ...table,
    columnParts: partsOf(table.schema, vocabulary),
  }));
  const startingWith = Map.groupBy(split, ({ columnParts: [first] }) => first?.words.join());
  const namedAlike = createNameIndex(split.map((table) => [table.parts.entity, table]));
  return split.map(({ schema, profile, version, parts, columnParts }) => {
    const ref = {
      ...(schema.catalog === undefined ? {} : { catalog: schema.catalog }),
      schema: schema.schema,
      table: schema.table,
    };
    const columns: ColumnFacts[] = [];
    const table: TableFacts = {
      schema,
      ref,
      profile,
      version,
      parts,
      columns,
      rows: Math.round(profile.rows / profile.fraction),
    };
    const isAway = (own: NameParts, position: number): boolean => {
      const isOther = (other: { readonly schema: TableSchema }): boolean => other.schema !== schema;
      const isNamed = namedAlike(own.entity).some(
        ({ thing, likeness }) => likeness >= 0.8 && isOther(thing),
      );
      return isNamed || (position > 0 && (startingWith.get(own.words.join()) ?? []).some(isOther));
    };
    for (const [position, column] of schema.columns.entries()) {
      const [own, found] = [columnParts[position], profile.columns[position]];
      if (!own || !found) continue;
      const home =
        own.entity.length === 0
          ? 1
          : Math.max(
              matchNames(own.entity, parts.entity).full,
              matchNames(parts.entity, own.entity).tail * 0.7,
            );
      const away = own.keyed && own.entity.length > 0 && home < 0.8 && isAway(own, position);
      const judged = {
        present: profile.rows - found.nulls,
        family: found.note === undefined ? familyOf(column.type, found.kind) : undefined,
        home,
        away,
      };
      const place = { id: tableKey(ref) + column.name, name: column.name, table, position };
      columns.push({ ...place, schema: column, profile: found, parts: own, ...judged });
    }
    return table;
  });
}

/** A prefix that the first column of a table and most others share (`l_orderkey`, `l_partkey`) says nothing. */
function partsOf({ columns }: TableSchema, vocabulary: ReadonlySet<string>): NameParts[] {
  const shared = sharedPrefix(columns.map(({ name }) => name));
  const prefix = columns[0]?.name.toLowerCase().startsWith(shared)
    ? shared.slice(0, shared.lastIndexOf('_') + 1)
    : '';
  return columns.map(({ name }) =>
    parseColumnName(
      name.toLowerCase().startsWith(prefix) ? name.slice(prefix.length) : name,
      vocabulary,
    ),
  );
}

export function sameWords({ words }: NameParts, other: NameParts): boolean {
  return (
    words.length === other.words.length && words.every((word, index) => word === other.words[index])
  );
}

/** May two columns hold the same values? Integers may be stored as text on one side. */
export function comparable(a: ColumnFacts, b: ColumnFacts): boolean {
  if (a.family === undefined || b.family === undefined) return false;
  if (a.family === b.family) return true;
  const text = [a, b].find(({ family }) => family === 'text');
  return text?.profile.kind === 'integer' && a.family !== 'date' && b.family !== 'date';
}
