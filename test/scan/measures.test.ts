import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { scanConfigSchema } from '../../src/scan/config.ts';
import { measureClaims } from '../../src/scan/measures/measure-claims.ts';
import { scan } from '../../src/scan/scan.ts';
import { makeDatabase, never } from '../support/warehouses.ts';

/** `*` behind a column: it must become a sum; every other column must not. */
type Tables = Readonly<Record<string, string>>;

/** Looked at while the rules were written. */
const shop: Tables = {
  customer:
    'customer_id int, full_name text, email text, credit_limit dec, lifetime_value dec, total_spend dec, birth_year int, created_at ts',
  product:
    'product_id int, name text, list_price dec, cost dec, weight dec, vat_rate dec, stock int',
  orders:
    'order_id int, customer_id int, order_date date, required_date date, shipped_date date, amount dec*, discount_amount dec*, discount_pct dec, tax dec*, shipping_cost dec*, exchange_rate dec, tax_year int, latitude dec, longitude dec',
  order_item: 'order_id int, line_no int, product_id int, qty int*, unit_price dec',
  payment:
    'payment_id dec, order_id int, paid_at ts, amount_paid dec*, installments int, balance_after dec',
};
const ads: Tables = {
  ad_day:
    'day date, campaign_id int, clicks int*, impressions int*, spend dec*, cost_per_click dec, ctr dec, avg_position dec, conversions int*, quality_score dec, daily_budget dec',
  campaign: 'campaign_id int, name text, budget dec, spend_limit dec, clicks_target int',
};

/** Set aside: written before the rules ran on any of them. */
const bank: Tables = {
  account:
    'account_no dec, customer_no dec, iban text, balance dec, overdraft_limit dec, interest_rate dec, opened_on date',
  account_balance_daily:
    'account_no dec, as_of_date date, closing_balance dec, available_amount dec, accrued_interest dec',
  transactions:
    'txn_id dec, account_no dec, booked_at ts, value_date date, amount dec*, fee dec*, running_balance dec, fx_rate dec, merchant_code int, branch_latitude dec',
  loan: 'loan_no dec, account_no dec, principal dec, apr dec, term_months int, origination_fee dec*, started_on date, monthly_payment dec*, remaining_amount dec',
  fx_rates: 'currency text, quote_date date, rate dec, bid_price dec',
  card_spend: 'card_id dec, posted_on date, currency text, amount dec, tip dec',
};
const calls: Tables = {
  agent: 'agent_id int, agent_name text, hourly_cost dec, shift_hours dec, max_calls int',
  call_log:
    'call_id int, agent_id int, started_at ts, ended_at ts, talk_seconds int*, hold_seconds int*, timeout_seconds int, queue_position int, csat_score int, hour int, utc_offset_minutes int, mos_percent dec, call_cost dec*',
  data_session:
    'session_id dec, subscriber_no dec, start_time ts, duration_ms int*, bytes_rate dec, cell_lat dec, cell_lon dec, avg_speed dec, units int*',
  tariff: 'tariff_id int, title text, included_minutes int, monthly_fee dec, setup_fee dec',
  invoice:
    'invoice_no dec, subscriber_no dec, invoice_date date, due_date date, subtotal dec*, tax_amount dec*, tax_percentage dec, invoice_total dec*, fiscal_year int, fiscal_period int',
};
const logistics: Tables = {
  depot: 'depot_id int, depot_name text, capacity_units int, lat dec, lng dec, rent_cost dec',
  shipment:
    'shipment_id int, depot_id int, shipped_on date, delivered_on date, freight dec*, surcharge dec*, weight_kg dec, distance_km dec, declared_value dec, quantity int*, price_per_unit dec, eta_hours_estimate dec',
  stock_level:
    'depot_id int, sku_id int, snapshot_date date, quantity int, units_on_hand int, stock_amount dec',
  sensor_reading:
    'sensor_id int, read_at ts, temperature dec, humidity_pct dec, pressure dec, x dec, y dec, level dec, epoch_seconds int, sample_rate dec',
  fuel_purchase:
    'purchase_id int, depot_id int, purchased_at ts, litres dec, total_price dec*, unit_price dec, discount dec*, odometer int',
  price_list: 'sku_id int, valid_from date, valid_to date, amount dec, surcharge dec',
};

const sqlTypes = {
  int: 'INTEGER',
  dec: 'DECIMAL(18,4)',
  text: 'VARCHAR(40)',
  date: 'DATE',
  ts: 'TIMESTAMP',
};
type TypeName = keyof typeof sqlTypes;

function parseColumn(column: string) {
  const [name = '', type = ''] = column.trim().replace('*', '').split(' ');
  return { name, type: type as TypeName, isSum: column.endsWith('*') };
}

/** Forty rows a table: first columns and columns of ids hold ids, others what fits the type. */
function cell({ name, type }: ReturnType<typeof parseColumn>, row: number, at: number): string {
  if (/_(id|no)$/.test(name)) return String(at === 0 ? row + 1 : (row % 7) + 1);
  if (type === 'int') return String((row * 3) % 11);
  if (type === 'dec') return String((row * 1.37) % 90);
  if (type === 'text')
    return name === 'currency' ? `'${['EUR', 'USD'][row % 2]}'` : `'${name} ${row}'`;
  const day = `2025-0${(row % 9) + 1}-1${row % 10}`;
  return type === 'date' ? `'${day}'` : `'${day} 10:0${row % 10}:00'`;
}

function script(tables: Tables): string {
  return Object.entries(tables)
    .flatMap(([table, definition]) => {
      const columns = definition.split(', ').map(parseColumn);
      const typed = columns.map(({ name, type }) => `${name} ${sqlTypes[type]}`);
      const rows = Array.from(
        { length: 40 },
        (_, row) => `(${columns.map((column, at) => cell(column, row, at)).join(', ')})`,
      );
      return [
        `CREATE TABLE ${table} (${typed.join(', ')});`,
        `INSERT INTO ${table} VALUES ${rows.join(', ')};`,
      ];
    })
    .join('\n');
}

async function proposalsOf(sql: string, engine: 'duckdb' | 'sqlite' = 'duckdb') {
  const database = await makeDatabase(engine, sql);
  const warehouse = await database.open();
  const db = new DatabaseSync(':memory:');
  try {
    const config = scanConfigSchema.parse({});
    return measureClaims(
      await scan({ warehouse, scope: {}, state: { db }, config, signal: never }),
    ).map(({ subject, kind, body, evidence }) => ({
      name: subject.replace(/^\w+:\w+\./, ''),
      kind,
      body: body as { agg?: string; of?: string; ratio?: unknown },
      evidence,
    }));
  } finally {
    db.close();
    await warehouse.close();
    await database.remove();
  }
}

describe.each(Object.entries({ shop, ads, bank, calls, logistics }))('of %s', (_, tables) => {
  test('amounts, quantities and durations become sums, and nothing else does', async () => {
    const found = await proposalsOf(script(tables));
    const sums = found.flatMap(({ name, body: { agg, of } }) =>
      agg === 'sum' && of !== undefined && !of.includes('*') ? [`${name.split('.')[0]}.${of}`] : [],
    );
    const expected = Object.entries(tables).flatMap(([table, definition]) =>
      definition
        .split(', ')
        .map(parseColumn)
        .flatMap(({ name, isSum }) => (isSum ? [`${table}.${name}`] : [])),
    );
    expect(sums.toSorted()).toEqual(expected.toSorted());
  });
});

test('obvious pairs become ratios and products; the time is the one that names the event', async () => {
  const found = [...(await proposalsOf(script(shop))), ...(await proposalsOf(script(ads)))];
  const others = found.filter(({ body: { agg, of } }) => agg !== 'sum' || of?.includes('*'));
  expect(others.map(({ name, body }) => `${name} ${JSON.stringify(body)}`)).toMatchInlineSnapshot(`
    [
      "orders "order_date"",
      "order_item.gross_amount {"agg":"sum","of":"unit_price * qty"}",
      "ad_day.click_through_rate {"ratio":{"numerator":"total_clicks","denominator":"total_impressions"}}",
      "ad_day.conversion_rate {"ratio":{"numerator":"total_conversions","denominator":"total_clicks"}}",
    ]
  `);
  expect(found.every(({ evidence: [first] }) => first?.confidence === 0.5)).toBe(true);
});

test.each([
  ['several currencies', ['EUR', 'USD'], []],
  ['one currency', ['EUR', 'EUR'], ['order_line.gross_amount', 'order_line.total_fee']],
])('lines whose orders are in %s are added up only where that means something', async (...row) => {
  const [, currencies, expected] = row;
  const orders = Array.from(
    { length: 40 },
    (_, at) => `(${at + 1}, '2025-01-1${at % 10}', '${currencies[at % 2]}')`,
  );
  const lines = Array.from(
    { length: 80 },
    (_, at) => `(${at + 1}, ${(at % 40) + 1}, 2, 3.5, 1.25)`,
  );
  // The day is a text, which only its values show to be a time.
  const statements = `
    CREATE TABLE orders (id INTEGER PRIMARY KEY, ordered_on TEXT, currency TEXT);
    INSERT INTO orders VALUES ${orders.join(', ')};
    CREATE TABLE order_line (id INTEGER PRIMARY KEY, order_id INTEGER REFERENCES orders (id),
      qty INTEGER, unit_price DECIMAL(10,2), fee DECIMAL(10,2));
    INSERT INTO order_line VALUES ${lines.join(', ')};`;
  const found = await proposalsOf(statements, 'sqlite');
  const ofMoney = found.filter(({ kind, name }) => kind === 'metric' && !name.endsWith('_qty'));
  expect(ofMoney.map(({ name }) => name).toSorted()).toEqual(expected);
  expect(found.map(({ name }) => name)).toContain('order_line.total_qty');
});
