import type { Block } from './fact-query.ts';
import type { Calendar } from './calendar.ts';
import type {
  Expr,
  NamedColumn,
  CommonTable,
  FromItem,
  Query,
  Select,
} from '../relational/query-tree.ts';
import type { Members } from './empty-groups.ts';

/** The names have a space, so that no table of a warehouse is likely to be hidden behind one. */
const factName = 'ktx facts';
const source = 'ktx all';

/** The queries that lead to one row for each group that any block has, or any combination of members. The last one is the result. */
export function mergeTables(
  blocks: readonly Block[],
  filled: Calendar['filled'],
): readonly CommonTable[] {
  const groups = groupTables(
    blocks.filter(({ kept }) => kept === undefined),
    filled,
  );
  const totals = blocks.filter(({ kept }) => kept !== undefined);
  return totals.length === 0 ? groups : [...groups, ...totalTables(groups.at(-1), totals)];
}

/** The groups, each beside the totals that it is part of. */
function totalTables(
  groups: CommonTable | undefined,
  totals: readonly Block[],
): readonly CommonTable[] {
  const name = groups?.name ?? factName;
  const tables = totals.map(({ select }, index) => ({
    name: `ktx totals ${index + 1}`,
    query: select,
  }));
  const joins = totals.map(({ kept = [] }, index) => {
    const total = common(tables[index]?.name ?? '');
    const equal = kept.map((position) =>
      sameOrNull(from(name, `d${position + 1}`), from(total.alias, `d${position + 1}`)),
    );
    const on: Expr = {
      kind: 'text',
      parts:
        equal.length === 0
          ? ['1 = 1']
          : equal.flatMap((one, at) => (at === 0 ? [one] : [' AND ', one])),
    };
    return { ...total, on, kind: 'left' as const };
  });
  const columns = [
    ...(groups?.query.kind === 'select' ? groups.query.columns : []).map(({ column }) => ({
      column,
      expr: from(name, column),
    })),
    ...totals.flatMap(({ leaves }, index) =>
      leaves.map((leaf) => {
        const value = from(tables[index]?.name ?? '', leaf.column);
        const expr: Expr = leaf.function.startsWith('count')
          ? { kind: 'call', parts: ['COALESCE(', value, ', 0)'] }
          : value;
        return { column: leaf.column, expr };
      }),
    ),
  ];
  return [
    ...tables,
    {
      name: 'ktx groups',
      query: { kind: 'select', columns, from: common(name), joins, where: [] },
    },
  ];
}

function sameOrNull(one: Expr, other: Expr): Expr {
  return {
    kind: 'text',
    parts: [one, ' = ', other, ' OR (', one, ' IS NULL AND ', other, ' IS NULL)'],
  };
}

function groupTables(blocks: readonly Block[], filled: Calendar['filled']): readonly CommonTable[] {
  const facts = blocks.map(({ select }, index) => ({
    name: blocks.length === 1 ? factName : `${factName} ${index + 1}`,
    query: select,
  }));
  const dimensions = (blocks[0]?.places ?? []).map((_, index) => `d${index + 1}`);
  const sets = [
    ...memberSets(blocks, facts),
    ...(filled === undefined ? [] : [periodSet(filled, { dimensions, facts })]),
  ];
  if (facts.length === 1 && sets.length === 0) return facts;
  const leaves = blocks.flatMap((block, index) =>
    block.leaves.map((leaf) => ({ ...leaf, table: facts[index]?.name ?? '' })),
  );
  const rows = (tables: readonly Pick<MemberTable, 'name' | 'columns'>[]): Select => {
    const [first, ...others] = tables.map(({ name }) => common(name));
    const columns = dimensions.map((column) => ({
      column,
      expr: from(tables.find((one) => one.columns.includes(column))?.name ?? '', column),
    }));
    const values = leaves.map(({ column, table }) => {
      return {
        column,
        expr:
          first?.alias === table
            ? from(table, column)
            : ({ kind: 'missing', table, column } as const),
      };
    });
    const joins = others.map((other) => ({
      ...other,
      kind: 'cross' as const,
      on: { kind: 'text' as const, parts: [] },
    }));
    return {
      kind: 'select',
      columns: [...columns, ...values],
      from: first ?? common(factName),
      joins,
      where: [],
    };
  };
  const parts = [
    ...facts.map(({ name }) => rows([{ name, columns: dimensions }])),
    ...sets.map(rows),
  ];
  const columns: readonly NamedColumn<Expr>[] = [
    ...dimensions.map((column) => ({ column, expr: from(source, column) })),
    ...leaves.map(({ column, function: name }) => ({
      column,
      expr: merged(column, name.startsWith('count')),
    })),
  ];
  const all: FromItem = {
    alias: source,
    relation: { kind: 'select', select: { kind: 'union', all: true, parts } },
  };
  const query: Select = {
    kind: 'select',
    columns,
    from: all,
    joins: [],
    where: [],
    groups: dimensions.length,
  };
  const members = new Map(
    sets.flat().flatMap((table) => ('query' in table ? [[table.name, table]] : [])),
  );
  return [...facts, ...members.values(), { name: 'ktx result', query }];
}

/** A group meets itself in one row of each block that has it. */
function merged(column: string, isCount: boolean): Expr {
  const value: Expr = { kind: 'call', parts: ['max(', from(source, column), ')'] };
  return isCount ? { kind: 'call', parts: ['COALESCE(', value, ', 0)'] } : value;
}

/** Every period beside what the result has of the other dimensions. */
function periodSet(
  { column, table, coarser }: NonNullable<Calendar['filled']>,
  rest: { dimensions: readonly string[]; facts: readonly CommonTable[] },
): readonly (MemberTable | Pick<MemberTable, 'name' | 'columns'>)[] {
  const columns = [{ column, expr: from(table, column) }, ...coarser];
  const names = columns.map((one) => one.column);
  const query: Select = { kind: 'select', columns, from: common(table), joins: [], where: [] };
  const periods =
    coarser.length === 0
      ? { name: table, columns: [column] }
      : { name: 'ktx all periods', query, columns: names };
  const others = rest.dimensions.filter((one) => !names.includes(one));
  return others.length === 0
    ? [periods]
    : [
        periods,
        { name: 'ktx others', ...memberQuery({ kind: 'fact', columns: others }, rest.facts) },
      ];
}

interface MemberTable extends CommonTable {
  readonly columns: readonly string[];
}

/** For each combination of sets, its tables; sets that read the same rows come once. */
function memberSets(
  blocks: readonly Block[],
  facts: readonly CommonTable[],
): readonly (readonly MemberTable[])[] {
  const known = new Map<string, MemberTable>();
  const tables = blocks.map(({ members }) =>
    members.map((set) => {
      const { columns, query, text } = memberQuery(set, facts);
      const table = known.get(text) ?? { name: `ktx members ${known.size + 1}`, query, columns };
      known.set(text, table);
      return table;
    }),
  );
  const keys = tables.map((set) => set.map(({ name }) => name).join());
  return tables.filter((set, index) => set.length > 0 && keys.indexOf(keys[index] ?? '') === index);
}

/** `text` is equal where the rows are. */
function memberQuery(
  set: Members,
  facts: readonly CommonTable[],
): { query: Query; columns: readonly string[]; text: string } {
  if (set.kind === 'dataset') {
    const { columns, from: root } = set.select;
    const text = JSON.stringify(set.select).replaceAll(
      JSON.stringify(root.alias).slice(0, -1),
      '"@',
    );
    return { query: set.select, columns: columns.map(({ column }) => column), text };
  }
  const parts = facts.map(({ name }): Select => {
    const columns = set.columns.map((column) => ({ column, expr: from(name, column) }));
    return { kind: 'select', distinct: true, columns, from: common(name), joins: [], where: [] };
  });
  return {
    query: { kind: 'union', all: false, parts },
    columns: set.columns,
    text: set.columns.join(),
  };
}

function common(name: string): FromItem {
  return { alias: name, relation: { kind: 'common', name } };
}

function from(alias: string, name: string): Expr {
  return { kind: 'column', alias, name };
}
