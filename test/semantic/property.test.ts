import { DuckDBInstance } from '@duckdb/node-api';
import * as fc from 'fast-check';
import { DatabaseSync } from 'node:sqlite';
import { beforeAll, describe, expect, test } from 'vitest';
import type { SemanticModel } from '../../src/semantic/model/model.ts';
import { duckdb } from '../../src/sql/dialects/duckdb.ts';
import { sqlite } from '../../src/sql/dialects/sqlite.ts';
import { registerFunctions } from '../../src/warehouse/drivers/sqlite/register-functions.ts';
import { compile, load, shop } from './shop.ts';

interface Order {
  id: number;
  customer_id: number | null;
  ship_customer_id: number | null;
  amount: number | null;
  cost: number;
  status: string | null;
}
interface Customer {
  id: number;
  segment: string | null;
  region_id: number | null;
}
interface Region {
  id: number;
  name: string | null;
}
interface Employee {
  id: number;
  name: string | null;
  manager_id: number | null;
  salary: number;
}
interface Data {
  orders: Order[];
  customers: Customer[];
  regions: Region[];
  employees: Employee[];
}
type Cell = string | number | null;
type Row = readonly Cell[];
type Truth = boolean | null;

const key = fc.option(fc.integer({ min: 1, max: 6 }), { nil: null, freq: 4 });
const text = (...values: string[]): fc.Arbitrary<string | null> =>
  fc.option(fc.constantFrom(...values), { nil: null, freq: 4 });
const numbered = <Rest extends object>(
  shape: { [K in keyof Rest]: fc.Arbitrary<Rest[K]> },
  maxLength: number,
): fc.Arbitrary<(Rest & { id: number })[]> =>
  fc
    .array(fc.record(shape) as fc.Arbitrary<Rest>, { maxLength })
    .map((rows) => rows.map((row, index) => ({ ...row, id: index + 1 })));

/** Keys go to 6, rows to 4: orphans, NULL keys and members without facts all occur. */
const dataArbitrary: fc.Arbitrary<Data> = fc.record({
  orders: numbered<Omit<Order, 'id'>>(
    {
      customer_id: key,
      ship_customer_id: key,
      amount: fc.option(fc.integer({ min: -5, max: 40 }), { nil: null, freq: 5 }),
      cost: fc.integer({ min: 0, max: 9 }),
      status: text('paid', 'open', 'settled'),
    },
    12,
  ),
  customers: numbered<Omit<Customer, 'id'>>({ segment: text('ent', 'smb'), region_id: key }, 4),
  regions: numbered<Omit<Region, 'id'>>({ name: text('EMEA', 'AMER') }, 3),
  employees: numbered<Omit<Employee, 'id'>>(
    { name: text('Ann', 'Bob', 'Cid'), manager_id: key, salary: fc.integer({ min: 1, max: 9 }) },
    5,
  ),
});

const buyer = (data: Data, order: Order): Customer | undefined =>
  data.customers.find((it) => it.id === order.customer_id);
const recipient = (data: Data, order: Order): Customer | undefined =>
  data.customers.find((it) => it.id === order.ship_customer_id);
const region = (data: Data, customer: Customer | undefined): Region | undefined =>
  data.regions.find((it) => it.id === customer?.region_id);

const dimensions: Record<
  string,
  { of: (data: Data, order: Order) => Cell; member?: (data: Data, customer: Customer) => Cell }
> = {
  'orders.status': { of: (_data, order) => order.status },
  'orders.buyer.segment': {
    of: (data, order) => buyer(data, order)?.segment ?? null,
    member: (_data, it) => it.segment,
  },
  'buyer.regions.name': {
    of: (data, order) => region(data, buyer(data, order))?.name ?? null,
    member: (data, it) => region(data, it)?.name ?? null,
  },
  'recipient.segment': { of: (data, order) => recipient(data, order)?.segment ?? null },
  'orders.recipient.regions.name': {
    of: (data, order) => region(data, recipient(data, order))?.name ?? null,
  },
};

const is = (left: Cell, right: Cell): Truth => (left === null ? null : left === right);
const or = (...truths: Truth[]): Truth =>
  truths.includes(true) ? true : truths.includes(null) ? null : false;
const not = (truth: Truth): Truth => (truth === null ? null : !truth);
const filters: {
  where: string | object;
  holds: (data: Data, order: Order) => Truth;
  member?: (customer: Customer) => Truth;
}[] = [
  {
    where: "orders.status = 'paid' or orders.status = 'open'",
    holds: (_data, it) => or(is(it.status, 'paid'), is(it.status, 'open')),
  },
  {
    where: { field: 'orders.status', op: 'in', value: ['paid', null] },
    holds: (_data, it) => it.status === null || it.status === 'paid',
  },
  {
    where: { field: 'orders.status', op: 'not_in', value: ['paid', null] },
    holds: (_data, it) => it.status !== null && it.status !== 'paid',
  },
  {
    where: { field: 'orders.status', op: 'contains', value: 'e' },
    holds: (_data, it) => it.status?.includes('e') ?? null,
  },
  {
    where: { field: 'orders.status', op: 'ends_with', value: 'paid' },
    holds: (_data, it) => it.status?.endsWith('paid') ?? null,
  },
  {
    where: 'orders.amount > 10',
    holds: (_data, it) => (it.amount === null ? null : it.amount > 10),
  },
  {
    where: "not buyer.segment = 'ent'",
    holds: (data, it) => not(is(buyer(data, it)?.segment ?? null, 'ent')),
    member: (it) => not(is(it.segment, 'ent')),
  },
  {
    where: "recipient.segment = 'smb' or orders.amount is null",
    holds: (data, it) => or(is(recipient(data, it)?.segment ?? null, 'smb'), it.amount === null),
  },
  {
    where: { field: 'orders.buyer.segment', op: 'is_null' },
    holds: (data, it) => (buyer(data, it)?.segment ?? null) === null,
    member: (it) => it.segment === null,
  },
];

const sum = (values: readonly (number | null)[]): Cell => {
  const numbers = values.filter((value) => value !== null);
  return numbers.length === 0 ? null : numbers.reduce((total, value) => total + value, 0);
};
const ratio = (above: Cell, below: Cell): Cell =>
  above === null || below === null || below === 0 ? null : Number(above) / Number(below);
const less = (left: Cell, right: Cell): Cell =>
  left === null || right === null ? null : Number(left) - Number(right);
const amounts = (rows: readonly Order[]): (number | null)[] => rows.map((it) => it.amount);
const paid = (rows: readonly Order[]): Order[] => rows.filter((it) => it.status === 'paid');

const metrics: Record<string, (data: Data, rows: readonly Order[]) => Cell> = {
  'orders.revenue': (_data, rows) => sum(amounts(rows)),
  'orders.order_count': (_data, rows) => rows.length,
  'orders.paid_revenue': (_data, rows) => sum(amounts(paid(rows))),
  'orders.customers_seen': (_data, rows) =>
    new Set(rows.flatMap((it) => it.customer_id ?? [])).size,
  'orders.average': (_data, rows) =>
    ratio(sum(amounts(rows)), amounts(rows).filter((it) => it !== null).length),
  'orders.largest': (_data, rows) =>
    rows.some((it) => it.amount !== null)
      ? Math.max(...amounts(rows).filter((it) => it !== null))
      : null,
  'orders.profit': (_data, rows) => less(sum(amounts(rows)), sum(rows.map((it) => it.cost))),
  'orders.aov': (_data, rows) => ratio(sum(amounts(rows)), rows.length),
  'orders.paid_aov': (_data, rows) => ratio(sum(amounts(paid(rows))), paid(rows).length),
  'orders.enterprise_revenue': (data, rows) =>
    sum(amounts(rows.filter((it) => buyer(data, it)?.segment === 'ent'))),
  'sum(orders.double_amount) / count(orders.id)': (_data, rows) =>
    ratio(sum(amounts(rows).map((it) => it && it * 2)), rows.length),
};

interface Query {
  metrics: string[];
  dimensions: string[];
  filters: number[];
  includeEmpty: boolean;
  having: boolean;
}

const queryArbitrary: fc.Arbitrary<Query> = fc.record({
  metrics: fc.subarray(Object.keys(metrics), { minLength: 1 }),
  dimensions: fc.shuffledSubarray(Object.keys(dimensions)),
  filters: fc.subarray(
    filters.map((_, index) => index),
    { maxLength: 2 },
  ),
  includeEmpty: fc.boolean(),
  having: fc.boolean(),
});

/** The rules of the semantic layer, over plain arrays. */
function expected(data: Data, query: Query): readonly Row[] {
  const chosen = query.filters.flatMap((index) => filters[index] ?? []);
  const rows = data.orders.filter((order) =>
    chosen.every((filter) => filter.holds(data, order) === true),
  );
  const groups = new Map<string, { group: Row; rows: Order[] }>();
  const at = (group: Row): { group: Row; rows: Order[] } => {
    const name = JSON.stringify(group);
    const found = groups.get(name) ?? { group, rows: [] };
    groups.set(name, found);
    return found;
  };
  if (query.dimensions.length === 0) at([]);
  for (const order of rows)
    at(query.dimensions.map((name) => dimensions[name]?.of(data, order) ?? null)).rows.push(order);
  if (isEmptyIncluded(query)) {
    const members = data.customers.filter((customer) =>
      chosen.every((filter) => filter.member === undefined || filter.member(customer) === true),
    );
    const own = query.dimensions.includes('orders.status')
      ? [...new Set(rows.map((it) => it.status))]
      : [null];
    // Regions alone are members themselves; beside a segment, the customers in which both come
    // together.
    const isRegions = !query.dimensions.includes('orders.buyer.segment');
    for (const { name } of isRegions ? data.regions : []) {
      for (const status of own)
        at(query.dimensions.map((dimension) => (dimension === 'orders.status' ? status : name)));
    }
    for (const customer of isRegions ? [] : members) {
      for (const status of own)
        at(
          query.dimensions.map((name) =>
            name === 'orders.status'
              ? status
              : (dimensions[name]?.member?.(data, customer) ?? null),
          ),
        );
    }
  }
  return [...groups.values()]
    .filter((it) => !query.having || it.rows.length < 2)
    .map((it) => [
      ...it.group,
      ...query.metrics.map((name) => metrics[name]?.(data, it.rows) ?? null),
    ]);
}

function isEmptyIncluded(query: Query): boolean {
  const isBuyers = (name: string): boolean => dimensions[name]?.member !== undefined;
  return (
    query.includeEmpty &&
    query.dimensions.some(isBuyers) &&
    query.dimensions.every((name) => isBuyers(name) || name === 'orders.status')
  );
}

function compiled(model: SemanticModel, query: Query): string {
  return compile(model, {
    metrics: query.metrics,
    dimensions: query.dimensions,
    where: query.filters.flatMap((index) => (filters[index]?.where ?? []) as never),
    having: query.having ? ['orders.order_count < 2'] : [],
    include_empty: isEmptyIncluded(query),
  }).sql;
}

const comparable = (rows: readonly Row[]): string[] =>
  rows
    .map((row) =>
      JSON.stringify(
        row.map((cell) => (typeof cell === 'number' ? Math.round(cell * 1e6) / 1e6 : cell)),
      ),
    )
    .toSorted();

const schema = `
CREATE TABLE orders (id INTEGER, customer_id INTEGER, ship_customer_id INTEGER, amount INTEGER, cost INTEGER, status VARCHAR, created_at TIMESTAMP);
CREATE TABLE customers (id INTEGER, segment VARCHAR, region_id INTEGER);
CREATE TABLE regions (id INTEGER, name VARCHAR);
CREATE TABLE employees (id INTEGER, name VARCHAR, manager_id INTEGER, salary INTEGER);`;

function fill(data: Data): string {
  const columns: Record<keyof Data, readonly string[]> = {
    orders: ['id', 'customer_id', 'ship_customer_id', 'amount', 'cost', 'status'],
    customers: ['id', 'segment', 'region_id'],
    regions: ['id', 'name'],
    employees: ['id', 'name', 'manager_id', 'salary'],
  };
  return (Object.keys(columns) as (keyof Data)[])
    .map((table) => {
      const cells = (row: object): string =>
        columns[table].map((column) => duckdb.literal(Reflect.get(row, column) as Cell)).join(', ');
      const values = data[table].map((row) => `(${cells(row)})`).join(', ');
      return `DELETE FROM ${table}; ${values === '' ? '' : `INSERT INTO ${table} (${columns[table].join(', ')}) VALUES ${values};`}`;
    })
    .join('\n');
}

interface Runner {
  readonly model: SemanticModel;
  run(script: string, sql: string): Promise<readonly Row[]>;
}

async function duckdbRunner(): Promise<Runner> {
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  await connection.run(schema);
  const { model } = await load(shop, duckdb);
  return {
    model,
    async run(script, sql) {
      await connection.run(script);
      const rows = (await connection.runAndReadAll(sql)).getRowsJson() as unknown as readonly Row[];
      return rows.map((row) =>
        row.map((cell) => (typeof cell === 'string' && /^-?\d+$/.test(cell) ? Number(cell) : cell)),
      );
    },
  };
}

async function sqliteRunner(): Promise<Runner> {
  const database = new DatabaseSync(':memory:');
  registerFunctions(database);
  database.exec(schema);
  const { model } = await load(shop, sqlite);
  return {
    model,
    run(script, sql) {
      database.exec(script);
      const statement = database.prepare(sql);
      statement.setReturnArrays(true);
      return Promise.resolve(statement.all() as unknown as readonly Row[]);
    },
  };
}

for (const [name, open] of Object.entries({ duckdb: duckdbRunner, sqlite: sqliteRunner })) {
  describe(`compiled SQL on ${name}`, () => {
    let runner: Runner;
    beforeAll(async () => {
      runner = await open();
    });

    test('gives what a brute-force reading of the rules gives', async () => {
      await fc.assert(
        fc.asyncProperty(dataArbitrary, queryArbitrary, async (data, query) => {
          const rows = await runner.run(fill(data), compiled(runner.model, query));
          expect(comparable(rows)).toEqual(comparable(expected(data, query)));
        }),
        { numRuns: 150 },
      );
    });

    test('joins a dataset with itself without losing or repeating a row', async () => {
      await fc.assert(
        fc.asyncProperty(dataArbitrary, async (data) => {
          const { sql } = compile(runner.model, {
            metrics: ['employees.headcount', 'employees.payroll'],
            dimensions: ['manager.manager.name', 'employees.name'],
          });
          const rows = await runner.run(fill(data), sql);
          const manager = (it: Employee | undefined): Employee | undefined =>
            data.employees.find((other) => other.id === it?.manager_id);
          const groups = new Map<string, number[]>();
          for (const it of data.employees) {
            const group = JSON.stringify([manager(manager(it))?.name ?? null, it.name]);
            groups.set(group, [...(groups.get(group) ?? []), it.salary]);
          }
          const wanted = [...groups].map(([group, salaries]): Row => [
            ...(JSON.parse(group) as Cell[]),
            salaries.length,
            sum(salaries),
          ]);
          expect(comparable(rows)).toEqual(comparable(wanted));
        }),
        { numRuns: 50 },
      );
    });

    test('changes no metric when another is added, and no result by the order of names and conditions', async () => {
      await fc.assert(
        fc.asyncProperty(dataArbitrary, queryArbitrary, async (data, query) => {
          const script = fill(data);
          const all = await runner.run(script, compiled(runner.model, query));
          const reversed = {
            ...query,
            metrics: query.metrics.toReversed(),
            dimensions: query.dimensions.toReversed(),
            filters: query.filters.toReversed(),
          };
          const mirrored = await runner.run(script, compiled(runner.model, reversed));
          const width = query.dimensions.length;
          const unmirrored = mirrored.map((row) => [
            ...row.slice(0, width).toReversed(),
            ...row.slice(width).toReversed(),
          ]);
          expect(comparable(unmirrored)).toEqual(comparable(all));
          const alone = await runner.run(
            script,
            compiled(runner.model, { ...query, metrics: query.metrics.slice(0, 1) }),
          );
          expect(comparable(alone)).toEqual(comparable(all.map((row) => row.slice(0, width + 1))));
        }),
        { numRuns: 60 },
      );
    });

    test('adds an additive metric’s groups up to its total, and treats AND as two conditions', async () => {
      await fc.assert(
        fc.asyncProperty(
          dataArbitrary,
          fc.shuffledSubarray(Object.keys(dimensions)),
          async (data, chosen) => {
            const script = fill(data);
            const grouped = await runner.run(
              script,
              compile(runner.model, {
                metrics: ['orders.revenue', 'orders.order_count'],
                dimensions: chosen,
              }).sql,
            );
            const [total] = await runner.run(
              script,
              compile(runner.model, { metrics: ['orders.revenue', 'orders.order_count'] }).sql,
            );
            const column = (index: number): (number | null)[] =>
              grouped.map((row) => row[chosen.length + index] as number | null);
            expect([sum(column(0)), sum(column(1)) ?? 0]).toEqual(total);
            const pieces = [
              "orders.status = 'paid' or orders.amount > 10",
              "buyer.segment = 'ent' or orders.amount < 5",
            ];
            const joined = await runner.run(
              script,
              compile(runner.model, {
                metrics: ['orders.aov'],
                where: [`(${pieces[0]}) and (${pieces[1]}) and true`],
              }).sql,
            );
            const apart = await runner.run(
              script,
              compile(runner.model, { metrics: ['orders.aov'], where: pieces }).sql,
            );
            expect(comparable(joined)).toEqual(comparable(apart));
          },
        ),
        { numRuns: 40 },
      );
    });
  });
}
