import type { QueryEvidence } from '../../../src/llm/port/tool-call.ts';
import { dayAfter, type Dice } from '../../conformance/seeded.ts';

/** Query results of the shapes that agents get, with random values. Money is in EUR. */

type Cell = string | number | boolean | null;
interface Column {
  readonly name: string;
  readonly type?: string;
  readonly unit?: string;
}

export function query(
  id: string,
  { columns, rows, sql }: { columns: readonly Column[]; rows: readonly Cell[][]; sql: string },
): QueryEvidence {
  return {
    id,
    call: `call-${id}`,
    tool: 'run_sql',
    connection: 'shop',
    sql,
    columns,
    rows,
    truncated: false,
    ms: 3,
  };
}

function shuffled<Item>(dice: Dice, items: readonly Item[]): readonly Item[] {
  return items
    .map((item) => ({ item, key: dice.next() }))
    .sort((a, b) => a.key - b.key)
    .map(({ item }) => item);
}

/** Amounts with cents, none near another, largest first. */
function amounts(dice: Dice, count: number, top: number): readonly number[] {
  let value = top * (0.7 + dice.next() * 0.3);
  return Array.from({ length: count }, () => {
    const amount = Math.round(value * 100) / 100;
    value *= 0.55 + dice.next() * 0.33;
    return amount;
  });
}

const regions = ['EMEA', 'APAC', 'North America', 'DACH', 'Nordics', 'Iberia', 'Benelux', 'LATAM'];
const products = [
  'Plan 365',
  'Model 3 Kettle',
  'Oak Desk',
  'Trail Shoe',
  'Arc Lamp',
  'Steel Bottle',
  'Wool Throw',
];
const companies = [
  'Hooli',
  'Acme Corp',
  'Globex',
  'Initech',
  'Umbrella',
  'Vandelay Industries',
  'Stark Ltd',
  'Wayne GmbH',
];
/** Names that no world has. */
export const strangers = ['Ruritania', 'Zenda Works', 'Kobold AG', 'Avalon'];

const text = (name: string): Column => ({ name, type: 'text' });
const money = (name: string): Column => ({ name, type: 'decimal', unit: 'EUR' });
const count = (name: string): Column => ({ name, type: 'integer' });

export interface NamedRow {
  readonly name: string;
  readonly revenue: number;
  readonly orders: number;
}

function namedRows(dice: Dice, names: readonly string[], top: number): readonly NamedRow[] {
  return amounts(dice, names.length, top).map((revenue, index) => ({
    name: names[index] ?? '',
    revenue,
    orders: dice.between(120, 940) + index * 1000 + 1,
  }));
}

/** One number. */
export function single(dice: Dice) {
  const year = dice.between(2019, 2025);
  const [revenue = 0] = amounts(dice, 1, dice.one([9_900_000, 88_000_000, 740_000]));
  const sql = `SELECT sum(amount) AS revenue FROM orders WHERE status = 'paid' AND placed_at >= DATE '${year}-01-01' AND placed_at < DATE '${year + 1}-01-01'`;
  return {
    year,
    revenue,
    evidence: [query('q1', { columns: [money('revenue')], rows: [[revenue]], sql })],
  };
}

/** Members with two measures, largest first. */
export function byRegion(dice: Dice) {
  const year = dice.between(2019, 2025);
  const rows = namedRows(dice, shuffled(dice, regions).slice(0, dice.between(4, 6)), 4_800_000);
  const sql = `SELECT region, sum(amount) AS revenue, count(*) AS orders FROM orders WHERE placed_at >= '${year}-01-01' AND placed_at < '${year + 1}-01-01' GROUP BY 1 ORDER BY 2 DESC`;
  const columns = [text('region'), money('revenue'), count('orders')];
  const cells = rows.map(({ name, revenue, orders }) => [name, revenue, orders]);
  return { year, rows, evidence: [query('q1', { columns, rows: cells, sql })] };
}

/** A value a month. */
export function byMonth(dice: Dice) {
  const year = dice.between(2019, 2025);
  const months = dice.between(6, 12);
  const rows = shuffled(dice, amounts(dice, months, 900_000)).map((revenue, month) => ({
    month: `${year}-${String(month + 1).padStart(2, '0')}-01`,
    revenue,
  }));
  const columns = [{ name: 'month', type: 'date' }, money('revenue')];
  const sql = `SELECT date_trunc('month', placed_at) AS month, sum(amount) AS revenue FROM orders WHERE placed_at >= '${year}-01-01' GROUP BY 1 ORDER BY 1`;
  return {
    year,
    rows,
    evidence: [
      query('q1', { columns, rows: rows.map(({ month, revenue }) => [month, revenue]), sql }),
    ],
  };
}

/** Two years in rows, by member. */
export function byYearAndRegion(dice: Dice) {
  const year = dice.between(2020, 2025);
  const names = shuffled(dice, regions).slice(0, 3);
  const before = amounts(dice, 3, 3_000_000);
  const rows = names.map((name, index) => {
    const was = before[index] ?? 0;
    const is = Math.round(was * (0.6 + dice.next() * 0.9) * 100) / 100;
    return { name, was, is };
  });
  const columns = [text('region'), count('year'), money('revenue')];
  const cells = rows.flatMap(({ name, was, is }) => [
    [name, year - 1, was],
    [name, year, is],
  ]);
  const sql = `SELECT region, year, sum(amount) AS revenue FROM orders WHERE year IN (${year - 1}, ${year}) GROUP BY 1, 2`;
  return { year, rows, evidence: [query('q1', { columns, rows: cells, sql })] };
}

/** Two years in columns. */
export function compared(dice: Dice) {
  const year = dice.between(2020, 2025);
  const names = shuffled(dice, companies).slice(0, dice.between(3, 5));
  const rows = amounts(dice, names.length, 700_000).map((was, index) => ({
    name: names[index] ?? '',
    was,
    is: Math.round(was * (0.5 + dice.next()) * 100) / 100,
  }));
  const columns = [text('customer'), money(`revenue_${year - 1}`), money(`revenue_${year}`)];
  const cells = rows.map(({ name, was, is }) => [name, was, is]);
  const sql = `SELECT customer, sum(CASE WHEN year = ${year - 1} THEN amount END), sum(CASE WHEN year = ${year} THEN amount END) FROM orders GROUP BY 1`;
  return { year, rows, evidence: [query('q1', { columns, rows: cells, sql })] };
}

/** Two queries with a number each. */
export function twoQueries(dice: Dice) {
  const year = dice.between(2020, 2025);
  const [was = 0] = amounts(dice, 1, 6_000_000);
  const is = Math.round(was * (0.6 + dice.next() * 0.9) * 100) / 100;
  const sqlOf = (of: number) =>
    `SELECT sum(amount) AS revenue FROM orders WHERE placed_at >= '${of}-01-01' AND placed_at < '${of + 1}-01-01'`;
  const one = (id: string, value: number, of: number) =>
    query(id, { columns: [money('revenue')], rows: [[value]], sql: sqlOf(of) });
  return { year, was, is, evidence: [one('q1', was, year - 1), one('q2', is, year)] };
}

/** Rates as fractions, with their base. */
export function rates(dice: Dice) {
  const names = shuffled(dice, ['Email', 'Search', 'Social', 'Affiliates', 'Direct']).slice(0, 4);
  const rows = names.map((name, index) => ({
    name,
    rate: Math.round((0.011 + index * 0.021 + dice.next() * 0.015) * 1e5) / 1e5,
    visits: dice.between(2100, 9800) + index * 10_000,
  }));
  const columns = [text('channel'), { name: 'conversion_rate', type: 'decimal' }, count('visits')];
  const cells = rows.map(({ name, rate, visits }) => [name, rate, visits]);
  const sql = 'SELECT channel, 1.0 * buyers / visits AS conversion_rate, visits FROM traffic';
  return { rows, evidence: [query('q1', { columns, rows: cells, sql })] };
}

/** Percentages that are percentages already. */
export function margins(dice: Dice) {
  const year = dice.between(2021, 2025);
  const rows = [1, 2, 3, 4].map((quarter) => ({
    quarter,
    revenue: Math.round((400_000 + dice.next() * 500_000) * 100) / 100,
    margin: Math.round((11 + quarter * 6 + dice.next() * 4) * 10) / 10,
  }));
  const columns = [text('quarter'), money('revenue'), { name: 'margin_pct', type: 'decimal' }];
  const cells = rows.map(({ quarter, revenue, margin }) => [
    `${year}-Q${quarter}`,
    revenue,
    margin,
  ]);
  const sql = `SELECT quarter, sum(amount) AS revenue, 100 * sum(margin) / sum(amount) AS margin_pct FROM orders WHERE year = ${year} GROUP BY 1`;
  return { year, rows, evidence: [query('q1', { columns, rows: cells, sql })] };
}

/** Profits and losses. */
export function profits(dice: Dice) {
  const names = shuffled(dice, ['Retail', 'Wholesale', 'Online', 'Services', 'Rental']).slice(0, 4);
  const rows = amounts(dice, 4, 800_000).map((value, index) => ({
    name: names[index] ?? '',
    profit: index % 2 === 0 ? value : -value,
  }));
  const columns = [text('unit'), money('profit')];
  const sql = 'SELECT unit, sum(revenue - cost) AS profit FROM ledger GROUP BY 1';
  return {
    rows,
    evidence: [query('q1', { columns, rows: rows.map(({ name, profit }) => [name, profit]), sql })],
  };
}

/** A long list, with dates. */
export function customers(dice: Dice) {
  const size = dice.between(60, 200);
  const values = amounts(dice, 6, 600_000);
  const rows = Array.from({ length: size }, (_, index) => ({
    name: index < companies.length ? (companies[index] ?? '') : `Customer ${String(1000 + index)}`,
    revenue: values[index] ?? Math.round((values[5] ?? 0) * (0.2 + 0.7 * dice.next()) * 100) / 100,
    orders: dice.between(1, 400),
    last: dayAfter('2025-01-03', dice.between(0, 330)),
  }));
  const columns = [
    text('customer'),
    money('revenue'),
    count('orders'),
    { name: 'last_order', type: 'date' },
  ];
  const cells = rows.map(({ name, revenue, orders, last }) => [name, revenue, orders, last]);
  const sql =
    'SELECT customer, sum(amount) AS revenue, count(*) AS orders, max(placed_at) AS last_order FROM orders GROUP BY 1 ORDER BY 2 DESC';
  return { rows, evidence: [query('q1', { columns, rows: cells, sql })] };
}

/** Counts by status. */
export function statuses(dice: Dice) {
  const names = ['paid', 'refunded', 'open', 'cancelled'];
  let n = dice.between(5200, 9800);
  const rows = names.map((name) => {
    const here = n;
    n = Math.floor(n * (0.2 + dice.next() * 0.4)) + 3;
    return { name, orders: here };
  });
  const columns = [text('status'), count('orders')];
  const sql = 'SELECT status, count(*) AS orders FROM orders GROUP BY 1';
  return {
    rows,
    evidence: [query('q1', { columns, rows: rows.map(({ name, orders }) => [name, orders]), sql })],
  };
}

/** Dates and a count in one row. */
export function firstAndLast(dice: Dice) {
  const first = dayAfter('2018-02-05', dice.between(0, 900));
  const last = dayAfter('2024-01-09', dice.between(0, 600));
  const buyers = dice.between(13, 99) * 100 + dice.between(11, 89);
  const columns = [
    { name: 'first_order', type: 'date' },
    { name: 'last_order', type: 'date' },
    count('buyers'),
  ];
  const sql =
    'SELECT min(placed_at) AS first_order, max(placed_at) AS last_order, count(DISTINCT buyer_id) AS buyers FROM orders';
  return {
    first,
    last,
    buyers,
    evidence: [query('q1', { columns, rows: [[first, last, buyers]], sql })],
  };
}

/** Products with figures in their names, and small counts. */
export function productCounts(dice: Dice) {
  const names = shuffled(dice, products).slice(0, 5);
  const rows = names.map((name, index) => ({ name, returns: 61 - index * 9 - dice.between(0, 6) }));
  const columns = [text('product'), count('returns')];
  const sql =
    "SELECT product, count(*) AS returns FROM returns WHERE reason = 'damaged' GROUP BY 1 ORDER BY 2 DESC LIMIT 5";
  return {
    rows,
    evidence: [
      query('q1', { columns, rows: rows.map(({ name, returns }) => [name, returns]), sql }),
    ],
  };
}

/** Averages in one row. */
export function averages(dice: Dice) {
  const orders = dice.between(1300, 9400);
  const average = Math.round((60 + dice.next() * 80) * 10_000) / 10_000;
  const median = Math.round((20 + dice.next() * 35) * 100) / 100;
  const columns = [money('avg_order_value'), money('median_order_value'), count('orders')];
  const sql =
    "SELECT avg(amount) AS avg_order_value, median(amount) AS median_order_value, count(*) AS orders FROM orders WHERE status = 'paid'";
  return {
    orders,
    average,
    median,
    evidence: [query('q1', { columns, rows: [[average, median, orders]], sql })],
  };
}

/** Two tables: members, and months. */
export function twoTables(dice: Dice) {
  const { rows: regionRows, evidence, year } = byRegion(dice);
  const productRows = amounts(dice, 3, 2_000_000).map((revenue, index) => ({
    name: products[index + 2] ?? '',
    revenue,
  }));
  const sql = `SELECT product, sum(amount) AS revenue FROM orders WHERE year = ${year} GROUP BY 1`;
  const second = query('q2', {
    columns: [text('product'), money('revenue')],
    rows: productRows.map(({ name, revenue }) => [name, revenue]),
    sql,
  });
  return { year, regionRows, productRows, evidence: [...evidence, second] };
}

/** One member, filtered in the SQL. */
export function filtered(dice: Dice) {
  const region = dice.one(['EMEA', 'APAC', 'DACH', 'Nordics']);
  const year = dice.between(2020, 2025);
  const quarter = dice.between(1, 3);
  const [revenue = 0] = amounts(dice, 1, 900_000);
  const orders = dice.between(1100, 8900);
  const from = `${year}-${String(quarter * 3 - 2).padStart(2, '0')}-01`;
  const to = `${year}-${String(quarter * 3 + 1).padStart(2, '0')}-01`;
  const sql = `SELECT sum(amount) AS revenue, count(*) AS orders FROM orders WHERE region = '${region}' AND placed_at >= '${from}' AND placed_at < '${to}'`;
  const columns = [money('revenue'), count('orders')];
  return {
    region,
    year,
    quarter,
    from,
    revenue,
    orders,
    evidence: [query('q1', { columns, rows: [[revenue, orders]], sql })],
  };
}

/** No rows. */
export function nothing(dice: Dice) {
  const year = dice.between(2019, 2025);
  const sql = `SELECT id FROM orders WHERE status = 'lost' AND placed_at >= '${year}-01-01' AND placed_at < '${year + 1}-01-01'`;
  return { year, evidence: [query('q1', { columns: [count('id')], rows: [], sql })] };
}

/** Billions. */
export function billions(dice: Dice) {
  const names = shuffled(dice, ['Brazil', 'Japan', 'Kenya', 'Norway', 'Peru']).slice(0, 4);
  const rows = amounts(dice, 4, 9_500_000_000).map((volume, index) => ({
    name: names[index] ?? '',
    volume: Math.round(volume),
  }));
  const columns = [text('country'), count('volume')];
  const sql = 'SELECT country, sum(volume) AS volume FROM trades GROUP BY 1';
  return {
    rows,
    evidence: [query('q1', { columns, rows: rows.map(({ name, volume }) => [name, volume]), sql })],
  };
}
