import { randomOf, type Generated, type Truth } from './generate.ts';

/**
 * A language for schemas that are written by hand: a column is a maker of values, `ref` also states the link. Equal names and
 * schemas give equal databases.
 */
export type Cell = string | number | null;
type Row = Readonly<Record<string, Cell | undefined>>;
/** What a maker sees: the number of the row, the columns of it that were made before, the values of other tables' columns. */
interface Made {
  readonly row: number;
  readonly record: Row;
  readonly random: () => number;
  readonly values: (table: string, column: string) => readonly Cell[];
}
interface Ref {
  readonly to: readonly [table: string, column: string];
  /** Shares of the rows that refer to nothing, and to what is not there. */
  readonly nulls: number;
  readonly orphans: number;
  /** What stands for nothing, beside NULL. */
  readonly none: Cell;
  /** Share of the parent's rows that are referred to. */
  readonly share: number;
}
interface Spec {
  readonly type: string;
  /** Undefined where a tuple gives it. */
  readonly make: (made: Made) => Cell | undefined;
  readonly ref?: Ref | undefined;
}
interface TableSpec {
  readonly rows: number;
  readonly key: readonly string[];
  readonly columns: Readonly<Record<string, Spec>>;
  /** Links of tuples, or of columns that are made without `ref`. */
  readonly links?: readonly (readonly [
    from: readonly string[],
    table: string,
    to: readonly string[],
  ])[];
  /** Links whose columns take the values of one row of the other table; they agree where they share a column. */
  readonly tuples?: readonly (readonly [
    from: readonly string[],
    table: string,
    to: readonly string[],
  ])[];
  /** Links that a reader could draw as well as not: they count neither as found nor as wrong. */
  readonly open?: readonly (readonly [
    from: readonly string[],
    table: string,
    to: readonly string[],
  ])[];
}
export type Schema = Readonly<Record<string, TableSpec>>;

const int = (random: () => number, below: number): number => Math.floor(random() * below);
const hexOf = (random: () => number, length: number): string =>
  Array.from({ length }, () => int(random, 16).toString(16)).join('');
const from = <T>(random: () => number, list: readonly T[]): T =>
  list[int(random, list.length)] as T;

export const made = (type: string, make: Spec['make']): Spec => ({ type, make });
export const serial = (start = 1, step = 1): Spec =>
  made('INTEGER', ({ row }) => start + row * step);
export const whole = (low: number, high: number): Spec =>
  made('INTEGER', ({ random }) => low + int(random, high - low + 1));
/** Ascending integers with gaps of random size. */
export const sparse = (start: number, gap: number): Spec =>
  made('INTEGER', ({ row, random }) => start + row * gap + int(random, gap));
export const money = (most: number): Spec =>
  made('NUMERIC(10,2)', ({ random }) => Math.round(random() * most * 100) / 100);
export const oneOf = (...values: readonly string[]): Spec =>
  made('TEXT', ({ random }) => from(random, values));
export const listed = (...values: readonly string[]): Spec =>
  made('TEXT', ({ row }) => values[row % values.length] ?? '');
export const code = (prefix: string, start: number, step = 7): Spec =>
  made('TEXT', ({ row }) => `${prefix}${start + row * step}`);
export const uuid = (): Spec =>
  made(
    'TEXT',
    ({ random }) =>
      `${hexOf(random, 8)}-${hexOf(random, 4)}-4${hexOf(random, 3)}-b${hexOf(random, 3)}-${hexOf(random, 12)}`,
  );
export const hex = (length: number, prefix = ''): Spec =>
  made('TEXT', ({ random }) => prefix + hexOf(random, length));
export const constant = (value: Cell): Spec =>
  made(typeof value === 'number' ? 'INTEGER' : 'TEXT', () => value);
/** A column that a tuple fills. */
export const given = (type = 'INTEGER'): Spec => made(type, () => undefined);
export const nothing = (type = 'INTEGER'): Spec => made(type, () => null);
const firsts = ['Old', 'New', 'Great', 'Little', 'Upper', 'Lower', 'Red', 'Far'];
const seconds = ['Mill', 'Bridge', 'Field', 'Harbour', 'Cross', 'Green', 'Stone', 'Gate'];
export const words = (): Spec =>
  made(
    'TEXT',
    ({ random }) => `${from(random, firsts)} ${from(random, seconds)} ${int(random, 900)}`,
  );
export const email = (): Spec =>
  made('TEXT', ({ row }) => `p${row * 13 + 7}@example.${row % 3 === 0 ? 'org' : 'com'}`);
const dayOf = (days: number): string =>
  new Date(Date.UTC(2015, 0, 1 + days)).toISOString().slice(0, 10);
export const day = (): Spec => made('DATE', ({ random }) => dayOf(int(random, 3000)));
/** Consecutive days as numbers: 20150101, 20150102… */
export const dayNumber = (): Spec =>
  made('INTEGER', ({ row }) => Number(dayOf(row).replaceAll('-', '')));
export const moment = (): Spec =>
  made(
    'TIMESTAMP',
    ({ random }) => `${dayOf(int(random, 3000))} 0${int(random, 10)}:${10 + int(random, 50)}:00`,
  );

interface RefOptions {
  readonly nulls?: number;
  readonly orphans?: number;
  readonly none?: Cell;
  readonly share?: number;
}
export const ref = (
  table: string,
  column: string,
  { nulls = 0, orphans = 0, none = null, share = 1 }: RefOptions = {},
): Spec => ({
  type: '',
  make: () => null,
  ref: { to: [table, column], nulls, orphans, none, share },
});
/** One row for each of the first of another table's rows: a key that extends it. */
export const each = (table: string, column: string): Spec => ({
  type: '',
  make: ({ row, values }) => values(table, column)[row] ?? null,
  ref: { to: [table, column], nulls: 0, orphans: 0, none: null, share: -1 },
});
/** An id of the table that the record's `type` column names; no link. */
export const meant = (
  typeColumn: string,
  targets: Readonly<Record<string, readonly [string, string]>>,
): Spec =>
  made('INTEGER', ({ record, random, values }) => {
    const target = targets[String(record[typeColumn])];
    return target ? (from(random, values(...target)) ?? null) : null;
  });

export function build(name: string, schema: Schema): Generated {
  const random = randomOf(
    Array.from(name).reduce(
      (sum, letter) => (sum * 31 + (letter.codePointAt(0) ?? 0)) % 1_000_003,
      7,
    ),
  );
  const rowsOf = rowMaker(schema, random);
  const typeOf = (spec: Spec): string => {
    const target = spec.ref && schema[spec.ref.to[0]]?.columns[spec.ref.to[1]];
    return spec.type || (target ? typeOf(target) : 'TEXT');
  };
  const tables = Object.entries(schema).map(([table, { columns }]) => {
    const rows = rowsOf(table);
    const filled = Object.entries(columns).map(([column, spec]) => ({
      name: column,
      type: typeOf(spec),
      values: rows.map((row) => row[column] ?? null),
    }));
    return { name: table, columns: filled };
  });
  return { tables, truth: truthOf(schema) };
}

/** Columns are made when they are asked for, since tables may refer to each other; then tuples, then rows with equal keys go. */
function rowMaker(schema: Schema, random: () => number): (table: string) => readonly Row[] {
  const records = new Map(
    Object.entries(schema).map(([table, { rows }]) => [
      table,
      Array.from({ length: rows }, (): Record<string, Cell | undefined> => ({})),
    ]),
  );
  const done = new Set<string>();
  const finished = new Map<string, readonly Row[]>();
  const values = (table: string, column: string): readonly Cell[] => {
    fill(table, column);
    return (records.get(table) ?? []).flatMap((row) =>
      row[column] === undefined || row[column] === null ? [] : [row[column]],
    );
  };
  const fill = (table: string, column: string): void => {
    const spec = schema[table]?.columns[column];
    if (spec === undefined || done.has(`${table}.${column}`)) return;
    done.add(`${table}.${column}`);
    const memo = new Map<string, readonly Cell[]>();
    const remembered = (other: string, name: string): readonly Cell[] => {
      const found = memo.get(`${other}.${name}`) ?? values(other, name);
      memo.set(`${other}.${name}`, found);
      return found;
    };
    const { ref: link } = spec;
    for (const [row, record] of (records.get(table) ?? []).entries()) {
      const isPicked = link !== undefined && link.share >= 0;
      record[column] = isPicked
        ? referred(remembered(...link.to), link, random)
        : spec.make({ row, record, random, values: remembered });
    }
  };
  const finish = (table: string): readonly Row[] => {
    const spec = schema[table];
    const known = finished.get(table);
    if (known || !spec) return known ?? [];
    const own = records.get(table) ?? [];
    finished.set(table, own);
    const { columns, tuples = [] } = spec;
    for (const column of Object.keys(columns)) fill(table, column);
    for (const [names, other, targets] of tuples)
      assign(own, { names, targets, parents: finish(other), random });
    const rows = unique(spec, own);
    finished.set(table, rows);
    return rows;
  };
  return finish;
}

function referred(
  pool: readonly Cell[],
  { nulls, orphans, none, share }: Ref,
  random: () => number,
): Cell {
  const chance = random();
  if (chance < nulls) return none;
  const key = pool[int(random, Math.max(1, Math.ceil(pool.length * share)))] ?? null;
  if (chance >= nulls + orphans) return key;
  return typeof key === 'number' ? key + 1_000_000 : `?${hexOf(random, 5)}`;
}

interface Tuple {
  readonly names: readonly string[];
  readonly targets: readonly string[];
  readonly parents: readonly Row[];
  readonly random: () => number;
}

/** Each record takes a parent that agrees with what it holds already. */
function assign(
  records: readonly Record<string, Cell | undefined>[],
  { names, targets, parents, random }: Tuple,
): void {
  const held = names.map((name) => records.length > 0 && records[0]?.[name] !== undefined);
  const keyOf = (row: Row, columns: readonly string[]): string =>
    JSON.stringify(columns.flatMap((column, index) => (held[index] === true ? [row[column]] : [])));
  const groups = Map.groupBy(parents, (row) => keyOf(row, targets));
  for (const record of records) {
    const parent = from(random, groups.get(keyOf(record, names)) ?? parents);
    for (const [index, name] of names.entries())
      record[name] ??= parent[targets[index] ?? ''] ?? null;
  }
}

/** Rows that repeat a key are left out. */
function unique(spec: TableSpec, rows: readonly Row[]): readonly Row[] {
  if (spec.key.length === 0) return rows;
  const seen = new Set<string>();
  return rows.filter((row) => {
    const text = JSON.stringify(spec.key.map((column) => row[column]));
    return !seen.has(text) && Boolean(seen.add(text));
  });
}

function truthOf(schema: Schema): Truth {
  const tables = Object.entries(schema);
  const stated = (read: (table: TableSpec) => TableSpec['links']): Truth['links'] =>
    tables.flatMap(([table, spec]) =>
      (read(spec) ?? []).map(([own, to, targets]) => ({
        from: table,
        from_columns: own,
        to,
        to_columns: targets,
      })),
    );
  return {
    primary_keys: Object.fromEntries(
      tables.filter(([, { key }]) => key.length > 0).map(([name, { key }]) => [name, key]),
    ),
    links: [
      ...tables.flatMap(([name, { columns }]) =>
        Object.entries(columns).flatMap(([column, spec]) =>
          spec.ref
            ? [
                {
                  from: name,
                  from_columns: [column],
                  to: spec.ref.to[0],
                  to_columns: [spec.ref.to[1]],
                },
              ]
            : [],
        ),
      ),
      ...stated(({ links }) => links),
      ...stated(({ tuples }) => tuples),
    ],
    open: stated(({ open }) => open),
  };
}
