import { tableKey, type TableRef } from '../sql/dialect.ts';
import type { ColumnSchema, TableSchema } from '../warehouse/warehouse.ts';
import type { ValueKind } from './kinds.ts';
import { matchNames, nameIndex } from './name-match.ts';
import { nameParts, sharedPrefix, tableParts, type NameParts } from './names.ts';
import type { ColumnProfile, TableProfile } from './profile.ts';

export interface ProfiledTable {
  readonly schema: TableSchema;
  readonly profile: TableProfile;
  /** Changes when the structure or the rows change. */
  readonly version: string;
}

/** A table with everything that keys and links are judged by. */
export interface TableFacts extends ProfiledTable {
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
  /** What the column can be compared with; undefined where it cannot be a key. */
  readonly family: 'integer' | 'text' | 'date' | undefined;
  /** 0..1: the name is that of the column's own table; 1 for a bare `id`. */
  readonly home: number;
  /** The name is that of another table, or of the key that another table starts with. */
  readonly away: boolean;
}

export function factsOf(tables: readonly ProfiledTable[]): TableFacts[] {
  const prefix = sharedPrefix(tables.map(({ schema }) => schema.table));
  const named = tables.map((table) => ({ ...table, parts: tableParts(table.schema.table, prefix) }));
  const vocabulary = new Set(named.flatMap(({ parts }) => parts.words));
  const words = new Map(named.map((table) => [table.schema, columnWords(table.schema, vocabulary)]));
  const startedBy = Map.groupBy(named, ({ schema }) => words.get(schema)?.[0]?.words.join());
  const namesakes = nameIndex(named.map((table) => [table.parts.entity, table]));
  return named.map(({ schema, profile, version, parts }) => {
    const { catalog, table: name } = schema;
    const ref = { ...(catalog === undefined ? {} : { catalog }), schema: schema.schema, table: name };
    const columns: ColumnFacts[] = [];
    const table: TableFacts = { schema, ref, profile, version, parts, columns, rows: Math.round(profile.rows / profile.fraction) };
    const isAway = (own: NameParts, position: number): boolean => {
      const meant = namesakes(own.entity).filter((other) => names(own, other.parts));
      const starting = position > 0 ? (startedBy.get(own.words.join()) ?? []) : [];
      return [...meant, ...starting].some((other) => other.schema !== schema);
    };
    for (const [position, own] of profile.columns.entries()) {
      const [columnParts, column] = [words.get(schema)?.[position], schema.columns[position]];
      if (!columnParts || !column) continue;
      const home = homeMatch(columnParts, parts);
      const away = columnParts.keyed && columnParts.entity.length > 0 && home < 0.8 && isAway(columnParts, position);
      const [id, present, family] = [tableKey(ref) + column.name, profile.rows - own.nulls, familyOf(column, own.kind)];
      columns.push({
        id,
        name: column.name,
        table,
        schema: column,
        profile: own,
        position,
        parts: columnParts,
        present,
        family,
        home,
        away,
      });
    }
    return table;
  });
}

/** A prefix that most columns of a table share (`l_orderkey`, `l_partkey`) says nothing. */
function columnWords({ columns }: TableSchema, vocabulary: ReadonlySet<string>): NameParts[] {
  const shared = sharedPrefix(columns.map(({ name }) => name));
  const prefix = shared.slice(0, shared.lastIndexOf('_') + 1);
  return columns.map(({ name }) => nameParts(name.toLowerCase().startsWith(prefix) ? name.slice(prefix.length) : name, vocabulary));
}

function homeMatch({ entity }: NameParts, table: NameParts): number {
  return entity.length === 0 ? 1 : Math.max(matchNames(entity, table.entity).full, matchNames(table.entity, entity).tail * 0.7);
}

function names({ entity }: NameParts, table: NameParts): boolean {
  const { full, tail } = matchNames(entity, table.entity);
  return Math.max(full, tail) >= 0.9;
}

export function sameWords({ words }: NameParts, other: NameParts): boolean {
  return words.length === other.words.length && words.every((word, index) => word === other.words[index]);
}

const textKinds: ReadonlySet<ValueKind> = new Set(['integer', 'uuid', 'code', 'name', 'phone', 'email', 'empty', 'text']);

function familyOf(column: ColumnSchema, kind: ValueKind): ColumnFacts['family'] {
  if (column.type === 'integer' || (column.type === 'decimal' && kind === 'integer')) return 'integer';
  if (column.type === 'date') return 'date';
  return column.type === 'string' && textKinds.has(kind) ? 'text' : undefined;
}

/** May two columns hold the same values? Integers may be stored as text on one side. */
export function comparable(a: ColumnFacts, b: ColumnFacts): boolean {
  if (a.family === undefined || b.family === undefined) return false;
  if (a.family === b.family) return true;
  const text = [a, b].find(({ family }) => family === 'text');
  return text?.profile.kind === 'integer' && a.family !== 'date' && b.family !== 'date';
}
