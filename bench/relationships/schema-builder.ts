import {
  seededRandom,
  type DatabaseTruth,
  type GeneratedCell,
  type GeneratedDatabase,
} from './generated-database.ts';

/** Undefined until the column is filled. */
type PartialRow = Readonly<Record<string, GeneratedCell | undefined>>;
/** What a column's function gets to compute a value. */
interface ValueContext {
  /** The number of the row, from 0. */
  readonly row: number;
  /** The columns of the row that are filled already. */
  readonly record: PartialRow;
  readonly random: () => number;
  /** The values of another table's column. */
  readonly values: (table: string, column: string) => readonly GeneratedCell[];
}
interface ColumnReference {
  readonly to: readonly [table: string, column: string];
  /** Shares of the rows that refer to nothing, and that refer to a missing row. */
  readonly nulls: number;
  readonly orphans: number;
  /** The value of rows that refer to nothing. */
  readonly none: GeneratedCell;
  /** Share of the parent's rows that are referred to. */
  readonly share: number;
}
export interface ColumnSpec {
  readonly type: string;
  /** Returns undefined if a tuple fills the column. */
  readonly compute: (context: ValueContext) => GeneratedCell | undefined;
  readonly ref?: ColumnReference | undefined;
}
type RowSource = { readonly view: string } | { readonly partOf: string; readonly where: string };
interface TableSpec {
  readonly rows: number;
  /** Set for a view, and for a table that has rows of another one. */
  readonly source?: RowSource | undefined;
  readonly key: readonly string[];
  readonly columns: Readonly<Record<string, ColumnSpec>>;
  /** Links of several columns, or of columns without `ref`. */
  readonly links?: readonly (readonly [
    from: readonly string[],
    table: string,
    to: readonly string[],
  ])[];
  /**
   * Links whose columns take their values from one row of the other table. Tuples that share a
   * column agree on its value.
   */
  readonly tuples?: readonly (readonly [
    from: readonly string[],
    table: string,
    to: readonly string[],
  ])[];
  /** Links on which readers may disagree: they count neither as found nor as wrong. */
  readonly open?: readonly (readonly [
    from: readonly string[],
    table: string,
    to: readonly string[],
  ])[];
}
/**
 * A schema written by hand: each column has a function that computes its values, and `ref` columns
 * also state a link. Equal names and schemas give equal databases.
 */
export type HandWrittenSchema = Readonly<Record<string, TableSpec>>;

const int = (random: () => number, below: number): number => Math.floor(random() * below);
const hexOf = (random: () => number, length: number): string =>
  Array.from({ length }, () => int(random, 16).toString(16)).join('');
const pick = <T>(random: () => number, list: readonly T[]): T =>
  list[int(random, list.length)] as T;

export const computed = (type: string, compute: ColumnSpec['compute']): ColumnSpec => ({
  type,
  compute,
});
export const serial = (start = 1, step = 1): ColumnSpec =>
  computed('INTEGER', ({ row }) => start + row * step);
export const integer = (low: number, high: number): ColumnSpec =>
  computed('INTEGER', ({ random }) => low + int(random, high - low + 1));
/** Ascending integers with gaps of random size. */
export const sparseSerial = (start: number, gap: number): ColumnSpec =>
  computed('INTEGER', ({ row, random }) => start + row * gap + int(random, gap));
export const money = (most: number): ColumnSpec =>
  computed('NUMERIC(10,2)', ({ random }) => Math.round(random() * most * 100) / 100);
export const oneOf = (...values: readonly string[]): ColumnSpec =>
  computed('TEXT', ({ random }) => pick(random, values));
/** The values in turn. */
export const cycle = (...values: readonly string[]): ColumnSpec =>
  computed('TEXT', ({ row }) => values[row % values.length] ?? '');
export const code = (prefix: string, start: number, step = 7): ColumnSpec =>
  computed('TEXT', ({ row }) => `${prefix}${start + row * step}`);
export const uuid = (): ColumnSpec =>
  computed(
    'TEXT',
    ({ random }) =>
      `${hexOf(random, 8)}-${hexOf(random, 4)}-4${hexOf(random, 3)}-b${hexOf(random, 3)}-${hexOf(random, 12)}`,
  );
export const hex = (length: number, prefix = ''): ColumnSpec =>
  computed('TEXT', ({ random }) => prefix + hexOf(random, length));
export const constant = (value: GeneratedCell): ColumnSpec =>
  computed(typeof value === 'number' ? 'INTEGER' : 'TEXT', () => value);
/** Filled by one of the table's tuples. */
export const fromTuple = (type = 'INTEGER'): ColumnSpec => computed(type, () => undefined);
export const alwaysNull = (type = 'INTEGER'): ColumnSpec => computed(type, () => null);
const firsts = ['Old', 'New', 'Great', 'Little', 'Upper', 'Lower', 'Red', 'Far'];
const seconds = ['Mill', 'Bridge', 'Field', 'Harbour', 'Cross', 'Green', 'Stone', 'Gate'];
export const words = (): ColumnSpec =>
  computed(
    'TEXT',
    ({ random }) => `${pick(random, firsts)} ${pick(random, seconds)} ${int(random, 900)}`,
  );
export const email = (): ColumnSpec =>
  computed('TEXT', ({ row }) => `p${row * 13 + 7}@example.${row % 3 === 0 ? 'org' : 'com'}`);
const dayOf = (days: number): string =>
  new Date(Date.UTC(2015, 0, 1 + days)).toISOString().slice(0, 10);
export const day = (): ColumnSpec => computed('DATE', ({ random }) => dayOf(int(random, 3000)));
/** Consecutive days as numbers: 20150101, 20150102… */
export const dayNumber = (): ColumnSpec =>
  computed('INTEGER', ({ row }) => Number(dayOf(row).replaceAll('-', '')));
export const moment = (): ColumnSpec =>
  computed(
    'TIMESTAMP',
    ({ random }) => `${dayOf(int(random, 3000))} 0${int(random, 10)}:${10 + int(random, 50)}:00`,
  );

interface RefOptions {
  readonly nulls?: number;
  readonly orphans?: number;
  readonly none?: GeneratedCell;
  readonly share?: number;
}
export const ref = (
  table: string,
  column: string,
  { nulls = 0, orphans = 0, none = null, share = 1 }: RefOptions = {},
): ColumnSpec => ({
  type: '',
  compute: () => null,
  ref: { to: [table, column], nulls, orphans, none, share },
});
/** The key of an extension table: row i refers to row i of the other table. */
export const onePerRow = (table: string, column: string): ColumnSpec => ({
  type: '',
  compute: ({ row, values }) => values(table, column)[row] ?? null,
  ref: { to: [table, column], nulls: 0, orphans: 0, none: null, share: -1 },
});
/** An id in the table that `typeColumn` names. States no link. */
export const polymorphicId = (
  typeColumn: string,
  targets: Readonly<Record<string, readonly [string, string]>>,
): ColumnSpec =>
  computed('INTEGER', ({ record, random, values }) => {
    const target = targets[String(record[typeColumn])];
    return target ? (pick(random, values(...target)) ?? null) : null;
  });

function typeOfValues(values: readonly GeneratedCell[]): string {
  const present = values.filter((value) => value !== null);
  return present.length > 0 && present.every(Number.isInteger) ? 'INTEGER' : 'TEXT';
}

export function buildDatabase(name: string, schema: HandWrittenSchema): GeneratedDatabase {
  const random = seededRandom(
    Array.from(name).reduce(
      (sum, letter) => (sum * 31 + (letter.codePointAt(0) ?? 0)) % 1_000_003,
      7,
    ),
  );
  const rowsOf = tableFiller(schema, random);
  const typeOf = (spec: ColumnSpec): string => {
    const target = spec.ref && schema[spec.ref.to[0]]?.columns[spec.ref.to[1]];
    return spec.type || (target ? typeOf(target) : '');
  };
  /** The type of the column from which a tuple takes its values. */
  const typeOfTuple = (table: string, column: string): string => {
    const tuple = schema[table]?.tuples?.find(([names]) => names.includes(column));
    const target = tuple?.[2][tuple[0].indexOf(column)] ?? '';
    const spec = tuple && schema[tuple[1]]?.columns[target];
    return spec === undefined ? '' : typeOf(spec);
  };
  const filled = Object.entries(schema).filter(([, { source }]) => source === undefined);
  const tables = filled.map(([table, { columns }]) => {
    const rows = rowsOf(table);
    const own = Object.entries(columns).map(([column, spec]) => {
      const values = rows.map((row) => row[column] ?? null);
      const type = typeOf(spec) || typeOfTuple(table, column) || typeOfValues(values);
      return { name: column, type, values };
    });
    return { name: table, columns: own };
  });
  const copies = Object.entries(schema).flatMap(([table, { source }]) =>
    source === undefined ? [] : [{ name: table, ...source }],
  );
  return { tables, copies, truth: truthOf(schema) };
}

/**
 * Returns a function that fills a table: its columns, then its tuples; then rows with a repeated
 * key are removed. Columns of other tables are filled on demand, since tables may refer to each
 * other.
 */
function tableFiller(
  schema: HandWrittenSchema,
  random: () => number,
): (table: string) => readonly PartialRow[] {
  const records = new Map(
    Object.entries(schema).map(([table, { rows }]) => [
      table,
      Array.from({ length: rows }, (): Record<string, GeneratedCell | undefined> => ({})),
    ]),
  );
  const filledColumns = new Set<string>();
  const finished = new Map<string, readonly PartialRow[]>();
  const values = (table: string, column: string): readonly GeneratedCell[] => {
    fill(table, column);
    return (records.get(table) ?? []).flatMap((row) =>
      row[column] === undefined || row[column] === null ? [] : [row[column]],
    );
  };
  const fill = (table: string, column: string): void => {
    const spec = schema[table]?.columns[column];
    if (spec === undefined || filledColumns.has(`${table}.${column}`)) return;
    filledColumns.add(`${table}.${column}`);
    const memo = new Map<string, readonly GeneratedCell[]>();
    const cachedValues = (otherTable: string, name: string): readonly GeneratedCell[] => {
      const cached = memo.get(`${otherTable}.${name}`) ?? values(otherTable, name);
      memo.set(`${otherTable}.${name}`, cached);
      return cached;
    };
    const { ref: link } = spec;
    for (const [row, record] of (records.get(table) ?? []).entries()) {
      record[column] =
        link !== undefined && link.share >= 0
          ? referenceValue(cachedValues(...link.to), link, random)
          : spec.compute({ row, record, random, values: cachedValues });
    }
  };
  const finish = (table: string): readonly PartialRow[] => {
    const spec = schema[table];
    const known = finished.get(table);
    if (known || !spec) return known ?? [];
    const own = records.get(table) ?? [];
    finished.set(table, own);
    const { columns, tuples = [] } = spec;
    for (const column of Object.keys(columns)) fill(table, column);
    for (const [names, parent, targets] of tuples)
      fillTuple(own, { names, targets, parents: finish(parent), random });
    const rows = withoutRepeatedKeys(spec, own);
    finished.set(table, rows);
    return rows;
  };
  return finish;
}

function referenceValue(
  pool: readonly GeneratedCell[],
  { nulls, orphans, none, share }: ColumnReference,
  random: () => number,
): GeneratedCell {
  const chance = random();
  if (chance < nulls) return none;
  const key = pool[int(random, Math.max(1, Math.ceil(pool.length * share)))] ?? null;
  if (chance >= nulls + orphans) return key;
  return typeof key === 'number' ? key + 1_000_000 : `?${hexOf(random, 5)}`;
}

interface TupleFill {
  readonly names: readonly string[];
  readonly targets: readonly string[];
  readonly parents: readonly PartialRow[];
  readonly random: () => number;
}

/**
 * Each record takes its values from a random parent that agrees with the columns filled already.
 */
function fillTuple(
  records: readonly Record<string, GeneratedCell | undefined>[],
  { names, targets, parents, random }: TupleFill,
): void {
  const isFilled = names.map((name) => records.length > 0 && records[0]?.[name] !== undefined);
  const keyOf = (row: PartialRow, columns: readonly string[]): string =>
    JSON.stringify(
      columns.flatMap((column, index) => (isFilled[index] === true ? [row[column]] : [])),
    );
  const parentsByKey = Map.groupBy(parents, (row) => keyOf(row, targets));
  for (const record of records) {
    const parent = pick(random, parentsByKey.get(keyOf(record, names)) ?? parents);
    for (const [index, name] of names.entries())
      record[name] ??= parent[targets[index] ?? ''] ?? null;
  }
}

/** Keeps the first row of each key. */
function withoutRepeatedKeys(spec: TableSpec, rows: readonly PartialRow[]): readonly PartialRow[] {
  if (spec.key.length === 0) return rows;
  const seen = new Set<string>();
  return rows.filter((row) => {
    const text = JSON.stringify(spec.key.map((column) => row[column]));
    return !seen.has(text) && Boolean(seen.add(text));
  });
}

function truthOf(schema: HandWrittenSchema): DatabaseTruth {
  const tables = Object.entries(schema);
  const keyOf = ({ key, source }: TableSpec): readonly string[] =>
    source !== undefined && 'partOf' in source ? (schema[source.partOf]?.key ?? []) : key;
  const linksIn = (read: (table: TableSpec) => TableSpec['links']): DatabaseTruth['links'] =>
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
      tables
        .map(([name, table]) => [name, keyOf(table)] as const)
        .filter(([, key]) => key.length > 0),
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
      ...linksIn(({ links }) => links),
      ...linksIn(({ tuples, open = [] }) => tuples?.filter((tuple) => !open.includes(tuple))),
    ],
    open: linksIn(({ open }) => open),
  };
}
