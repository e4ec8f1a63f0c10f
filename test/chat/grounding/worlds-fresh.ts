import { dayAfter, type Dice } from '../../conformance/seeded.ts';
import { query } from './worlds.ts';

/** More query results of the shapes that agents get. Money is in EUR. */

const text = (name: string) => ({ name, type: 'text' });
const money = (name: string) => ({ name, type: 'decimal', unit: 'EUR' });
const decimal = (name: string) => ({ name, type: 'decimal' });
const count = (name: string) => ({ name, type: 'integer' });
const date = (name: string) => ({ name, type: 'date' });

function mixed(dice: Dice, items: readonly string[], size: number): readonly string[] {
  return items
    .map((item) => ({ item, key: dice.next() }))
    .sort((a, b) => a.key - b.key)
    .map(({ item }) => item)
    .slice(0, size);
}

/** Values that fall from the top, none near another. */
function falling(dice: Dice, size: number, ...[top, digits = 0]: [top: number, digits?: number]) {
  let value = top * (0.7 + dice.next() * 0.3);
  return Array.from({ length: size }, () => {
    const here = Number(value.toFixed(digits));
    value *= 0.5 + dice.next() * 0.35;
    return here;
  });
}

const rounded = (value: number, digits: number): number => Number(value.toFixed(digits));

/** Sessions of the web shop by country and device, in rows. */
export function sessions(dice: Dice) {
  const year = dice.between(2021, 2025);
  const names = mixed(dice, ['Germany', 'France', 'Poland', 'Japan', 'Brazil', 'Spain'], 4);
  const rows = falling(dice, 4, 420_000).map((mobile, index) => ({
    name: names[index] ?? '',
    mobile,
    desktop: Math.round(mobile * (0.2 + dice.next() * 0.6)),
  }));
  const cells = rows.flatMap(({ name, mobile, desktop }) => [
    [name, 'mobile', mobile],
    [name, 'desktop', desktop],
  ]);
  const columns = [text('country'), text('device'), count('sessions')];
  const sql = `SELECT country, device, count(*) AS sessions FROM web_sessions WHERE started_at >= '${year}-01-01' AND started_at < '${year + 1}-01-01' GROUP BY country, device`;
  return { year, rows, evidence: [query('q1', { columns, rows: cells, sql })] };
}

/** Support tickets by team, with hours. */
export function tickets(dice: Dice) {
  const names = mixed(dice, ['Billing', 'Logistics', 'Onboarding', 'Hardware', 'Accounts'], 4);
  const rows = falling(dice, 4, 3_900).map((all, index) => ({
    name: names[index] ?? '',
    tickets: all,
    hours: rounded(2.3 + index * 5.1 + dice.next() * 3, 2),
    reopened: Math.round(all * (0.04 + dice.next() * 0.1)),
  }));
  const cells = rows.map((row) => [row.name, row.tickets, row.hours, row.reopened]);
  const columns = [
    text('team'),
    count('tickets'),
    decimal('avg_first_response_hours'),
    count('reopened'),
  ];
  const sql =
    "SELECT team, count(*) AS tickets, avg(first_response_hours) AS avg_first_response_hours, sum(CASE WHEN reopened THEN 1 ELSE 0 END) AS reopened FROM tickets WHERE opened_at >= '2025-07-01' AND opened_at < '2025-10-01' GROUP BY team ORDER BY tickets DESC";
  return { rows, evidence: [query('q1', { columns, rows: cells, sql })] };
}

/** Stock by article, with the point of reorder and the cost of a unit. */
export function inventory(dice: Dice) {
  const names = mixed(dice, ['Bolt M8', 'Hinge', 'Drawer Rail', 'Castor 50', 'Cable Clip'], 4);
  const rows = falling(dice, 4, 18_000).map((onHand, index) => ({
    name: names[index] ?? '',
    onHand,
    reorder: Math.round(onHand * (index === 3 ? 1.7 : 0.31 + index * 0.07)),
    cost: rounded(0.13 + dice.next() * 9, 2),
  }));
  const cells = rows.map((row) => [row.name, row.onHand, row.reorder, row.cost]);
  const columns = [text('article'), count('on_hand'), count('reorder_point'), money('unit_cost')];
  const sql =
    "SELECT article, on_hand, reorder_point, unit_cost FROM stock WHERE warehouse = 'Rotterdam' ORDER BY on_hand DESC";
  return { rows, evidence: [query('q1', { columns, rows: cells, sql })] };
}

/** Subscriptions by plan, with MRR and churn in percent. */
export function plans(dice: Dice) {
  const names = mixed(dice, ['Starter', 'Team', 'Business', 'Enterprise'], 4);
  const rows = falling(dice, 4, 260_000, 2).map((mrr, index) => ({
    name: names[index] ?? '',
    mrr,
    subscribers: dice.between(110, 390) + index * 517,
    churn: rounded(0.8 + index * 1.3 + dice.next(), 2),
  }));
  const cells = rows.map((row) => [row.name, row.subscribers, row.mrr, row.churn]);
  const columns = [text('plan'), count('subscribers'), money('mrr'), decimal('churn_pct')];
  const sql =
    "SELECT plan, count(*) AS subscribers, sum(mrr) AS mrr, 100.0 * avg(churned) AS churn_pct FROM subscriptions WHERE month = '2025-08-01' GROUP BY plan";
  return { rows, evidence: [query('q1', { columns, rows: cells, sql })] };
}

/** A value a week. */
export function weekly(dice: Dice) {
  const start = dayAfter('2025-01-06', 7 * dice.between(0, 20));
  const values = falling(dice, 8, 9_600);
  const order = mixed(dice, ['0', '1', '2', '3', '4', '5', '6', '7'], 8);
  const rows = order.map((at, index) => ({
    week: dayAfter(start, 7 * index),
    signups: values[Number(at)] ?? 0,
  }));
  const columns = [date('week_start'), count('signups')];
  const cells = rows.map(({ week, signups }) => [week, signups]);
  const sql = `SELECT date_trunc('week', created_at) AS week_start, count(*) AS signups FROM users WHERE created_at >= '${start}' AND created_at < '${dayAfter(start, 56)}' GROUP BY 1 ORDER BY 1`;
  const byValue = rows.toSorted((a, b) => b.signups - a.signups);
  return { rows, byValue, evidence: [query('q1', { columns, rows: cells, sql })] };
}

/** Actuals and budget by department. */
export function budgets(dice: Dice) {
  const year = dice.between(2022, 2025);
  const names = mixed(dice, ['Marketing', 'R&D', 'Facilities', 'Travel', 'Legal'], 4);
  const factors = [1.09, 0.88, 1.17, 0.94];
  const rows = falling(dice, 4, 1_900_000).map((budget, index) => ({
    name: names[index] ?? '',
    budget,
    actual: rounded(budget * ((factors[index] ?? 1) + dice.next() * 0.04), 2),
  }));
  const columns = [text('department'), money('actual'), money('budget')];
  const cells = rows.map(({ name, actual, budget }) => [name, actual, budget]);
  const sql = `SELECT department, sum(actual) AS actual, sum(budget) AS budget FROM spend WHERE fiscal_year = ${year} GROUP BY department`;
  return { year, rows, evidence: [query('q1', { columns, rows: cells, sql })] };
}

/** Cohorts by month, with the share that is left after one, two and three months. */
export function cohorts(dice: Dice) {
  const rows = [0, 1, 2, 3].map((month) => ({
    cohort: `2025-0${month + 2}-01`,
    users: dice.between(810, 990) + month * 313,
    m1: rounded(0.61 - month * 0.047 - dice.next() * 0.02, 4),
    m2: rounded(0.39 - month * 0.033 - dice.next() * 0.02, 4),
    m3: rounded(0.25 - month * 0.028 - dice.next() * 0.02, 4),
  }));
  const columns = [date('cohort'), count('users'), decimal('m1'), decimal('m2'), decimal('m3')];
  const cells = rows.map((row) => [row.cohort, row.users, row.m1, row.m2, row.m3]);
  const sql =
    'SELECT cohort, count(*) AS users, avg(active_m1) AS m1, avg(active_m2) AS m2, avg(active_m3) AS m3 FROM retention GROUP BY cohort ORDER BY cohort';
  return { rows, evidence: [query('q1', { columns, rows: cells, sql })] };
}

/** Suppliers, of which one has no delay on record. */
export function suppliers(dice: Dice) {
  const names = mixed(dice, ['Norstahl', 'Pinewood Bros', 'Kanda Parts', 'Ferrum SA', 'Lumen'], 4);
  const rows = falling(dice, 3, 940).map((deliveries, index) => ({
    name: names[index] ?? '',
    deliveries,
    delay: rounded(0.7 + index * 1.9 + dice.next(), 1),
  }));
  const unknown = { name: names[3] ?? '', deliveries: dice.between(11, 19) };
  const columns = [text('supplier'), count('deliveries'), decimal('avg_delay_days')];
  const cells = [
    ...rows.map(({ name, deliveries, delay }) => [name, deliveries, delay]),
    [unknown.name, unknown.deliveries, null],
  ];
  const sql =
    'SELECT supplier, count(*) AS deliveries, avg(delay_days) AS avg_delay_days FROM deliveries GROUP BY supplier ORDER BY deliveries DESC';
  return { rows, unknown, evidence: [query('q1', { columns, rows: cells, sql })] };
}

/** Accounts, named by numbers, some of them overdrawn. */
export function accounts(dice: Dice) {
  const rows = falling(dice, 4, 74_000, 2).map((value, index) => ({
    name: String(dice.between(40_100, 49_900) + index * 10_000),
    balance: index === 1 || index === 3 ? -value : value,
  }));
  const columns = [count('account_id'), money('balance')];
  const cells = rows.map(({ name, balance }) => [Number(name), balance]);
  const sql =
    'SELECT account_id, sum(amount) AS balance FROM ledger_entries GROUP BY account_id ORDER BY abs(sum(amount)) DESC LIMIT 4';
  return { rows, evidence: [query('q1', { columns, rows: cells, sql })] };
}

/** Visits in one query, and orders with their revenue in another. */
export function funnel(dice: Dice) {
  const month = dice.between(1, 9);
  const visits = dice.between(210_000, 880_000);
  const orders = Math.round(visits * (0.012 + dice.next() * 0.04));
  const revenue = rounded(orders * (31 + dice.next() * 60), 2);
  const range = `'2025-0${month}-01' AND '2025-0${month}-28'`;
  const first = query('q1', {
    columns: [count('visits')],
    rows: [[visits]],
    sql: `SELECT count(*) AS visits FROM visits WHERE day BETWEEN ${range}`,
  });
  const second = query('q2', {
    columns: [count('orders'), money('revenue')],
    rows: [[orders, revenue]],
    sql: `SELECT count(*) AS orders, sum(amount) AS revenue FROM orders WHERE day BETWEEN ${range}`,
  });
  return { month, visits, orders, revenue, evidence: [first, second] };
}

/** Parcels by carrier in one query, and the late ones in another. */
export function carriers(dice: Dice) {
  const names = mixed(dice, ['Postal One', 'Rapide', 'Kurier24', 'SwiftVan'], 3);
  const rows = falling(dice, 3, 61_000).map((parcels, index) => ({
    name: names[index] ?? '',
    parcels,
    late: Math.round(parcels * (0.021 + index * 0.034 + dice.next() * 0.02)),
  }));
  const first = query('q1', {
    columns: [text('carrier'), count('parcels')],
    rows: rows.map(({ name, parcels }) => [name, parcels]),
    sql: 'SELECT carrier, count(*) AS parcels FROM parcels GROUP BY carrier',
  });
  const second = query('q2', {
    columns: [text('carrier'), count('late')],
    rows: rows.map(({ name, late }) => [name, late]),
    sql: 'SELECT carrier, count(*) AS late FROM parcels WHERE delivered_on > promised_on GROUP BY carrier',
  });
  return { rows, evidence: [first, second] };
}

/** Revenue and the net result by quarter; two quarters end in a loss. */
export function quarters(dice: Dice) {
  const year = dice.between(2021, 2025);
  const nets = falling(dice, 4, 390_000, 2);
  const revenues = falling(dice, 4, 5_800_000, 2);
  const rows = [0, 1, 2, 3].map((index) => ({
    name: `Q${index + 1}`,
    revenue: revenues[(index * 3 + 1) % 4] ?? 0,
    net: (index % 2 === 0 ? 1 : -1) * (nets[index] ?? 0),
  }));
  const columns = [text('quarter'), money('revenue'), money('net_result')];
  const cells = rows.map(({ name, revenue, net }) => [`${year}-${name}`, revenue, net]);
  const sql = `SELECT quarter, sum(revenue) AS revenue, sum(revenue - cost) AS net_result FROM ledger WHERE year = ${year} GROUP BY quarter ORDER BY quarter`;
  return { year, rows, evidence: [query('q1', { columns, rows: cells, sql })] };
}

/** Headcount and average pay by office. */
export function offices(dice: Dice) {
  const names = mixed(dice, ['Lisbon', 'Kraków', 'Gent', 'Turin', 'Osaka', 'Lyon'], 4);
  const rows = falling(dice, 4, 460).map((staff, index) => ({
    name: names[index] ?? '',
    staff,
    pay: rounded(38_000 + index * 7_300 + dice.next() * 4_000, 2),
  }));
  const columns = [text('office'), count('employees'), money('avg_salary')];
  const cells = rows.map(({ name, staff, pay }) => [name, staff, pay]);
  const sql =
    "SELECT office, count(*) AS employees, avg(salary) AS avg_salary FROM staff WHERE left_on IS NULL AND snapshot = '2025-06-30' GROUP BY office";
  return { rows, evidence: [query('q1', { columns, rows: cells, sql })] };
}

/** Output and emissions by plant. */
export function plants(dice: Dice) {
  const names = mixed(dice, ['Havel', 'Rhône', 'Tajo', 'Vistula', 'Po'], 4);
  const rows = falling(dice, 4, 7_400_000).map((output, index) => ({
    name: names[index] ?? '',
    output,
    tonnes: rounded(output * (0.11 + index * 0.09 + dice.next() * 0.05), 1),
  }));
  const columns = [text('plant'), count('output_mwh'), decimal('co2_tonnes')];
  const cells = rows.map(({ name, output, tonnes }) => [name, output, tonnes]);
  const sql =
    'SELECT plant, sum(mwh) AS output_mwh, sum(co2_t) AS co2_tonnes FROM generation WHERE year = 2024 GROUP BY plant';
  return { rows, evidence: [query('q1', { columns, rows: cells, sql })] };
}

/** Shares in percent by brand, before and after. */
export function brands(dice: Dice) {
  const names = mixed(dice, ['Alba', 'Corvo', 'Dune', 'Fjell'], 3);
  const rows = falling(dice, 3, 44, 1).map((was, index) => ({
    name: names[index] ?? '',
    was,
    is: rounded(was + (index === 1 ? -1 : 1) * (1.4 + dice.next() * 3), 1),
  }));
  const columns = [text('brand'), decimal('share_pct_2023'), decimal('share_pct_2024')];
  const cells = rows.map(({ name, was, is }) => [name, was, is]);
  const sql = 'SELECT brand, share_pct_2023, share_pct_2024 FROM market_shares';
  return { rows, evidence: [query('q1', { columns, rows: cells, sql })] };
}
