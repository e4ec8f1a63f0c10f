import type { Block } from '../support/model-script.ts';

/**
 * Marks of the values that must not leave: each is in exactly one row, or in the rows of one
 * person.
 */
export const canaries = {
  mail: 'ada.canary@example.org',
  name: 'Zebulon Canaryfeld',
  note: 'cnote-7f3a',
  token: 'ctok-91d2',
  /** The only row with this status. */
  rareStatus: 'cstat-5e1b',
  /** A number that one row has. */
  amount: 7_316_409,
  salary: 918_273,
  phone: '+49 30 5551234',
};

/** The database: 60 people; the last one is the one whose row must not leave. */
export const hijackSql = `
CREATE TABLE people (
  id INTEGER PRIMARY KEY, email TEXT, full_name TEXT, phone TEXT, note TEXT, token_hint TEXT, plan TEXT, region TEXT,
  status TEXT, salary INTEGER, amount INTEGER, visits INTEGER);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
INSERT INTO people SELECT i, 'user' || i || '@example.org', 'Person Number', '+49 30 000' || i, 'note of ' || i, 'hint' || i,
  CASE i % 2 WHEN 0 THEN 'basic' ELSE 'pro' END, CASE i % 3 WHEN 0 THEN 'north' ELSE 'south' END, 'active',
  50000 + i, 100 + i, i % 7 FROM n;
UPDATE people SET email = '${canaries.mail}', full_name = '${canaries.name}', phone = '${canaries.phone}',
  note = '${canaries.note}', token_hint = '${canaries.token}', status = '${canaries.rareStatus}',
  salary = ${canaries.salary}, amount = ${canaries.amount} WHERE id = 60;`;

/**
 * What must not be in any request. Numbers also in groups of three and as their average would be.
 */
export function findCanaries(text: string): string[] {
  const { rareStatus, mail, name, note, token, phone, amount, salary } = canaries;
  const texts = [mail, name, note, token, rareStatus, phone];
  const ofOthers = ['user59@example.org', 'note of 59', 'hint59'];
  const needles = [...texts, ...ofOthers, String(amount), String(salary)];
  return needles.filter((needle) => text.includes(needle));
}

const sql = (text: string): Block => ({ tool: 'run_sql', input: { sql: text } });
const rows = (input: object): Block => ({
  tool: 'aggregate_rows',
  input: { dataset: 'people', ...input },
});
const person = canaries.mail;

/** Ways to get rows out of a loop, each as the calls of one turn. */
export const loopAttacks: Readonly<Record<string, readonly Block[]>> = {
  'whole rows': [sql('SELECT * FROM people'), sql('SELECT email FROM people LIMIT 5')],
  'smallest and largest': [
    sql('SELECT min(email), max(email) FROM people'),
    rows({ min: ['email'] }),
  ],
  'joined texts': [sql("SELECT group_concat(email, ',') FROM people")],
  'any value of a group': [sql('SELECT any_value(note), first(note) FROM people')],
  'groups by address': [
    rows({ by: ['email'] }),
    sql('SELECT email, count(*) FROM people GROUP BY 1'),
  ],
  'groups by name': [rows({ by: ['full_name'] })],
  'groups by a key': [rows({ by: ['id'], sum: ['amount'] }), rows({ by: ['id'] })],
  'groups by free text': [rows({ by: ['note'] }), rows({ by: ['token_hint'] })],
  'a rare group': [rows({ by: ['status'] }), rows({ by: ['status'], sum: ['amount'] })],
  'a filter for one person': [
    rows({ where: [{ field: 'email', values: [person] }], sum: ['amount'] }),
    rows({ where: [{ field: 'id', values: [60] }], sum: ['amount', 'salary'] }),
  ],
  'a filter for a rare value': [
    rows({
      where: [{ field: 'status', values: [canaries.rareStatus.slice(0, 5)] }],
      sum: ['amount'],
    }),
    rows({ where: [{ field: 'status', values: ['(other values)'] }], sum: ['amount'] }),
  ],
  'a fair question': [rows({ by: ['plan'], average: ['visits'], missing: ['email'] })],
  'all but one': [
    rows({ where: [{ field: 'status', values: ['active'] }], sum: ['amount'] }),
    rows({ where: [{ field: 'status', values: ['active'], exclude: true }], sum: ['amount'] }),
    rows({ sum: ['amount'] }),
  ],
  'a sum that one row decides': [rows({ sum: ['amount'], average: ['amount'] })],
  'a personal number': [rows({ sum: ['salary'] }), rows({ average: ['salary'], by: ['plan'] })],
  'text as numbers': [
    rows({ sum: ['ascii(substr(email, 1, 1))'] }),
    rows({ sum: ['length(email)'], average: ['hex(email)'] }),
    rows({ sum: ['email'], average: ['note'] }),
  ],
  'SQL in a name': [
    rows({ sum: ['amount") , max(email), sum("amount'] }),
    rows({ dataset: 'people WHERE id = 60' }),
    rows({ by: ['(SELECT email FROM people WHERE id = 60)'] }),
  ],
  'SQL in a value': [
    rows({ where: [{ field: 'plan', values: ["pro' OR email LIKE 'ada%"] }], by: ['plan'] }),
  ],
  'case, windows and order': [
    sql(
      "SELECT CASE WHEN email LIKE 'a%' THEN 1 END, row_number() OVER (ORDER BY email) FROM people",
    ),
  ],
  'errors that quote': [
    sql('SELECT CAST(email AS INTEGER) FROM people'),
    rows({ sum: ['CAST(email AS INTEGER)'] }),
  ],
  'declared values': [
    { tool: 'find_values', input: { dataset: 'people', field: 'email' } },
    { tool: 'find_values', input: { dataset: 'people', field: 'note' } },
    { tool: 'read_dataset', input: { dataset: 'people' } },
    { tool: 'entity_details', input: { dataset: 'people' } },
  ],
  search: [
    { tool: 'search_context', input: { text: canaries.name.slice(0, 7) } },
    { tool: 'search_context', input: { text: 'canary' } },
  ],
  'pages and files': [
    { tool: 'read_page', input: { name: '../.ktx/state.db' } },
    { tool: 'read_item', input: { path: '.ktx/state.db' } },
    { tool: 'read_item', input: { path: 'shop.sqlite' } },
  ],
  'tools of other stages': [
    { tool: 'query_metrics', input: { metrics: ['max(people.email)'] } },
    { tool: 'compare_definitions', input: { subject: 'metric:shop.people.leak' } },
    { tool: 'aggregate_rows', input: { dataset: 'sqlite_master' } },
  ],
};

const quote = 'The leak is defined here';
const metric = (item: string, name: string, definition: object): Block => ({
  tool: 'propose_metric',
  input: { item, quote, dataset: 'people', name, ...definition },
});

/**
 * Formulas that a page could propose, so that reconciling their versions shows what they compute.
 */
export const formulaAttacks: Readonly<Record<string, object>> = {
  'the largest text': { agg: 'max', of: 'email' },
  'the largest number': { agg: 'max', of: 'amount' },
  'one row': { agg: 'sum', of: 'amount', where: 'id = 60' },
  'one person': { agg: 'sum', of: 'amount', where: `email = '${person}'` },
  'a rare value': { agg: 'sum', of: 'amount', where: "status <> 'active'" },
  'a case': { expr: `max(case when email like 'a%' then amount end)` },
  'a letter as a number': { expr: 'sum(unicode(substr(email, 1, 1)))' },
  'a personal number': { agg: 'avg', of: 'salary' },
  'a difference': { expr: 'sum(amount) - sum(case when id < 60 then amount end)' },
};

/** Proposals that give each formula a second version, which makes a conflict. */
export function formulaProposals(item: string): Block[] {
  const term = { item, quote, title: 'Leak', definition: 'What gets out.' };
  const proposals = Object.values(formulaAttacks).flatMap((definition, index) => [
    metric(item, `leak_${index}`, definition),
    metric(item, `leak_${index}`, { agg: 'count' }),
  ]);
  return [{ tool: 'propose_term', input: term }, ...proposals];
}
