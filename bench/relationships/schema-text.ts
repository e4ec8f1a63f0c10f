import {
  alwaysNull,
  code,
  computed,
  constant,
  type ColumnSpec,
  day,
  dayNumber,
  email,
  fromTuple,
  hex,
  type HandWrittenSchema,
  integer,
  moment,
  money,
  oneOf,
  serial,
  sparseSerial,
  uuid,
  words,
} from './schema-builder.ts';
import type { GeneratedCell } from './generated-database.ts';

type TableSpec = HandWrittenSchema[string];
type TupleLink = NonNullable<TableSpec['links']>[number];
type RowSource = NonNullable<TableSpec['source']>;
/** A table while its lines are read. */
interface OpenTable {
  readonly rows: number;
  readonly source?: RowSource | undefined;
  readonly key: string[];
  readonly columns: Record<string, ColumnSpec>;
  readonly links: TupleLink[];
  readonly tuples: TupleLink[];
  readonly open: TupleLink[];
}

/**
 * Reads a schema from text. A line without indent begins a table: its name, its number of rows, and
 * `key=a,b` if its key has several columns. An indented line is a column:
 *
 *     id serial !                       the key: 1, 2, 3…
 *     buyer >people.id null=.1 share=.3  a reference; a tenth are NULL, to a third of the people
 *     buyer >people.id gone=.02         a share of the rows refers to people who were deleted
 *     id =people.id+20                  row n has the key of the other table's row n + 20
 *     id =people.id+20*3                row n has the key of the other table's row 3n + 20
 *     note_id any=note_type:Bug>bugs.id|Task>tasks.id   a key of the table that the type names
 *     (a,b) >lines(order_id,line)       both columns come from one row of the other table
 *     a ref=orders.id                   a link of a column that a tuple fills
 *     *audit                            columns that most tables have: times, a version, a flag
 *     *junk=8                           so many columns that refer to nothing
 *
 * Columns may stand in one line, with ` ; ` between them. `~` marks a link that counts neither as
 * found nor as wrong, `~~` the same for the link of a tuple. `#` begins a comment.
 *
 * `view <name> <SELECT>` begins a view, and `part <name> <condition> of <table>` a table with some
 * rows of another one; their lines state links (`ref=`) only.
 *
 * @throws Error for a line that it cannot read
 */
export function readSchemaText(text: string): HandWrittenSchema {
  const tables: Record<string, OpenTable> = {};
  let table: OpenTable | undefined;
  for (const line of text.split('\n')) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    if (line.startsWith(' ')) {
      if (table === undefined) throw new Error(`no table before: ${line}`);
      for (const column of line.split(' ; ').flatMap(expandMacro)) addLine(table, column.trim());
      continue;
    }
    const opened = openTable(line.trim());
    table = opened.table;
    tables[opened.name] = table;
  }
  return tables;
}

function openTable(line: string): { readonly name: string; readonly table: OpenTable } {
  const nothing = { rows: 0, key: [], columns: {}, links: [], tuples: [], open: [] };
  const view = /^view (?<name>\S+) (?<select>.+)$/u.exec(line)?.groups;
  if (view !== undefined)
    return {
      name: view['name'] ?? '',
      table: { ...nothing, source: { view: view['select'] ?? '' } },
    };
  const part = /^part (?<name>\S+) (?<where>.+) of (?<table>\S+)$/u.exec(line)?.groups;
  if (part !== undefined) {
    const source = { partOf: part['table'] ?? '', where: part['where'] ?? '' };
    return { name: part['name'] ?? '', table: { ...nothing, source } };
  }
  const [name = '', rows = '', ...options] = line.split(' ');
  const key = optionOf(options, 'key')?.split(',') ?? [];
  return { name, table: { ...nothing, rows: Number(rows), key, columns: {} } };
}

/** Columns that say nothing about a table; many tables have them. */
const macros: Readonly<Record<string, (value: string) => readonly string[]>> = {
  audit: () => ['created_at ts', 'updated_at ts', 'lock_version int=0..9', 'active flag'],
  junk: (value) =>
    Array.from({ length: Number(value) }, (_, index) => {
      const kinds = ['int=1..9', 'flag', 'null', 'int=0..200', 'letters=2', 'num=90', 'int=1..40'];
      return `field_${index + 1} ${kinds[index % kinds.length]}`;
    }),
};

function expandMacro(line: string): readonly string[] {
  const [, macro = '', value = ''] = /^\s*\*(\w+)(?:=(\d+))?$/u.exec(line) ?? [];
  return macros[macro]?.(value) ?? [line];
}

function addLine(table: OpenTable, line: string): void {
  const [first = '', second = '', ...options] = splitLine(line);
  if (first.startsWith('(')) {
    addTuple(table, [first, second], options.includes('~~'));
    return;
  }
  const isOpen = options.includes('~');
  if (second.startsWith('ref=')) {
    const [parent, target] = pathOf(second.slice(4));
    (isOpen ? table.open : table.links).push([[first], parent, [target]]);
    return;
  }
  if (options.includes('!')) table.key.push(first);
  const link = /^[>=](?<path>[^+*]+)/u.exec(second)?.groups?.['path'];
  if (link !== undefined) {
    const [parent, target] = pathOf(link);
    (isOpen ? table.open : table.links).push([[first], parent, [target]]);
  }
  table.columns[first] = withNulls(columnOf(second, options), options);
}

function addTuple(
  table: OpenTable,
  [first, second]: readonly [own: string, target: string],
  isOpen: boolean,
): void {
  const names = first.slice(1, -1).split(',');
  const [parent = '', targets = ''] = second.slice(1, -1).split('(');
  const tuple: TupleLink = [names, parent, targets.split(',')];
  table.tuples.push(tuple);
  if (isOpen) table.open.push(tuple);
  for (const name of names) table.columns[name] ??= fromTuple('');
}

/** Words, where the values of a choice may contain spaces. */
function splitLine(line: string): string[] {
  const withChoice = /^(?<name>\S+) (?<kind>(?:oneof|cycle)=.*?)(?<rest>(?: (?:null=\S+|!|~))*)$/u;
  const { name, kind, rest } = withChoice.exec(line)?.groups ?? {};
  if (name === undefined || kind === undefined) return line.split(/ +/u);
  return [name, kind, ...(rest ?? '').split(' ').filter((word) => word !== '')];
}

function columnOf(kind: string, options: readonly string[]): ColumnSpec {
  if (kind.startsWith('>')) return reference(pathOf(kind.slice(1)), options);
  if (kind.startsWith('=')) {
    const [, path = '', offset = '0', step = '1'] =
      /^=([^+*]+)(?:\+(\d+))?(?:\*(\d+))?$/u.exec(kind) ?? [];
    const [table, column] = pathOf(path);
    return computed(
      '',
      ({ row, values }) => values(table, column)[row * Number(step) + Number(offset)] ?? null,
    );
  }
  const [word = '', value = ''] = kind.split('=');
  const make = columnKinds[word];
  if (make === undefined) throw new Error(`unknown kind of column: ${kind}`);
  return make(value, options);
}

type MakeColumn = (value: string, options: readonly string[]) => ColumnSpec;
const columnKinds: Readonly<Record<string, MakeColumn>> = {
  serial: (value) => serial(...startAndStep(value)),
  sparse: (value) => sparseSerial(...startAndStep(value)),
  group: (value) => {
    const [size, start] = startAndStep(value);
    return computed('INTEGER', ({ row }) => start + Math.floor(row / size));
  },
  int: (value) => {
    const [low = '0', high = '0'] = value.split('..');
    return integer(Number(low), Number(high));
  },
  num: (value) => money(Number(value)),
  flag: () => integer(0, 1),
  oneof: (value) => valuesOf(value.split('|'), oneOf),
  cycle: (value) => valuesOf(value.split('|'), cycleOf),
  code: (value) => code(value, 100),
  letters: (value, options) => letters(Number(value), Number(optionOf(options, 'repeat'))),
  hex: (value, options) => hex(Number(value), optionOf(options, 'prefix') ?? ''),
  any: (value) => keyOfAny(value),
  const: (value) => constant(Number.isNaN(Number(value)) ? value : Number(value)),
  uuid: () => uuid(),
  words: () => words(),
  email: () => email(),
  date: () => day(),
  daynum: () => dayNumber(),
  ts: () => moment(),
  null: () => alwaysNull(),
};

function startAndStep(value: string): [number, number] {
  const [start = '1', step = '1'] = value === '' ? [] : value.split('+');
  return [Number(start), Number(step)];
}

const cycleOf = (...values: readonly string[]): ColumnSpec =>
  computed('TEXT', ({ row }) => values[row % values.length] ?? null);

/** Numbers where all values are numbers. */
function valuesOf(
  values: readonly string[],
  make: (...values: readonly string[]) => ColumnSpec,
): ColumnSpec {
  const spec = make(...values);
  if (values.some((value) => Number.isNaN(Number(value)))) return spec;
  return computed('INTEGER', (context) => Number(spec.compute(context)));
}

/** Capital letters, different for each row, or repeated after some rows. */
function letters(length: number, repeat: number): ColumnSpec {
  const step = length === 2 ? 37 : 1009;
  let start: number | undefined;
  return computed('TEXT', ({ row, random }) => {
    start ??= Math.floor(random() * 10_000);
    let rest = (Number.isNaN(repeat) ? row : row % repeat) * step + start;
    return Array.from({ length }, () => {
      const letter = String.fromCodePoint(65 + (rest % 26));
      rest = Math.floor(rest / 26);
      return letter;
    }).join('');
  });
}

/** Some parents have many children, as in life. */
function reference(
  [table, column]: readonly [string, string],
  options: readonly string[],
): ColumnSpec {
  const share = Number(optionOf(options, 'share') ?? 1);
  const orphans = Number(optionOf(options, 'orphan') ?? 0);
  const gone = Number(optionOf(options, 'gone') ?? 0);
  let known: ReadonlySet<GeneratedCell> | undefined;
  return computed('', ({ random, values }) => {
    const pool = values(table, column);
    if (random() < orphans) return `?${Math.floor(random() * 90_000)}`;
    const width = Math.max(1, Math.ceil(pool.length * share));
    const rank = Math.floor(random() ** 1.5 * width);
    const key = pool[(rank * 7919) % pool.length] ?? null;
    if (gone === 0 || random() >= gone) return key;
    known ??= new Set(pool);
    return deletedKey(key, known);
  });
}

/** The next key that has no row. */
function deletedKey(key: GeneratedCell, known: ReadonlySet<GeneratedCell>): GeneratedCell {
  if (typeof key !== 'number') return Array.from(String(key)).toReversed().join('');
  let next = key + 1;
  while (known.has(next)) next += 1;
  return next;
}

/** The key of the table that another column of the row names. */
function keyOfAny(value: string): ColumnSpec {
  const [typeColumn = '', choices = ''] = value.split(':');
  const targets = new Map(
    choices.split('|').map((choice) => {
      const [type = '', path = ''] = choice.split('>');
      return [type, pathOf(path)] as const;
    }),
  );
  return computed('', ({ record, random, values }) => {
    const target = targets.get(String(record[typeColumn]));
    const pool = target === undefined ? [] : values(...target);
    return pool[Math.floor(random() * pool.length)] ?? null;
  });
}

function withNulls(spec: ColumnSpec, options: readonly string[]): ColumnSpec {
  const share = Number(optionOf(options, 'null') ?? 0);
  const none: GeneratedCell = options.includes('none=0') ? 0 : null;
  if (share === 0) return spec;
  return computed(spec.type, (context) =>
    context.random() < share ? none : spec.compute(context),
  );
}

function optionOf(options: readonly string[], name: string): string | undefined {
  return options.find((option) => option.startsWith(`${name}=`))?.slice(name.length + 1);
}

function pathOf(text: string): readonly [table: string, column: string] {
  const [table = '', column = ''] = text.split('.');
  return [table, column];
}
