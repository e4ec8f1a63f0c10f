import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ktx, ktxJson } from './run-cli.ts';

let cwd: string;
const file = 'semantic-layer/warehouse/orders.yaml';

beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'ktx-query-words-'));
  const db = new DatabaseSync(join(cwd, 'shop.db'));
  db.exec(`
    CREATE TABLE orders (id INTEGER PRIMARY KEY, amount DECIMAL(10,2), status TEXT, channel TEXT,
      ordered DATE);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
    INSERT INTO orders SELECT i, i,
      CASE i % 3 WHEN 0 THEN 'completed' WHEN 1 THEN 'placed' ELSE 'returned' END,
      CASE i % 2 WHEN 0 THEN 'web' ELSE 'store' END, date('2025-01-01', '+' || i || ' days') FROM n;`);
  db.close();
  await ktx(['setup', '--driver', 'sqlite', '--path', 'shop.db'], { cwd });
  expect((await ktx(['ingest'], { cwd })).code).toBe(0);
  const text = readFileSync(join(cwd, file), 'utf8')
    .replace('{name: channel, type: string}', '{name: channel, values: [web, store, fax]}')
    .replace(
      /\{name: total_amount,.*\}/,
      '{name: revenue, agg: sum, of: amount, unit: EUR, synonyms: [Net Sales]}',
    );
  expect(text).toMatch(/fax[^]*Net Sales/);
  writeFileSync(join(cwd, file), text);
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

async function notes(...argv: readonly string[]): Promise<readonly string[]> {
  const { envelope } = await ktxJson(['sl', 'query', ...argv], { cwd });
  expect(envelope.error).toBeUndefined();
  return (envelope.data as { receipt: { notes: string[] } }).receipt.notes;
}

test('a filter by a value that the field does not have names the nearest that it has', async () => {
  expect(await notes('orders.count', '-w', "orders.status = 'complet'")).toEqual([
    "orders.status at the last scan did not have 'complet': did you mean 'completed'?",
  ]);
  const many = "orders.channel in ('Web', 'web') and orders.status <> 'xyz'";
  expect(await notes('orders.count', '-w', many)).toEqual([
    "orders.channel does not have 'Web': did you mean 'web'?",
    "orders.status at the last scan did not have 'xyz': it has 'completed', 'placed', 'returned'",
  ]);
  const query = JSON.stringify({
    metrics: ['orders.count'],
    where: [{ field: 'orders.status', op: 'in', value: ['plced'] }],
  });
  const { envelope } = await ktxJson(['sl', 'query', '--query-file', '-'], { cwd, stdin: query });
  expect(JSON.stringify(envelope.data)).toContain("did you mean 'placed'?");
  // What is there, what only looks alike, and other comparisons say nothing.
  const fine = "orders.status = 'placed' and orders.channel > 'm' and orders.status like 'x%'";
  expect(await notes('orders.count', '-w', fine)).toEqual([]);
});

test('a date has no hour, and the day of the week has its own name', async () => {
  expect(await notes('orders.count', '-d', 'orders.ordered.hour')).toEqual([
    'orders.ordered is a date, which has no hour: all of a day counts at 00:00',
  ]);
  expect(await notes('orders.count', '-d', 'orders.ordered.month')).toEqual([]);
  const parts = { weekday: 'day_of_week', dow: 'day_of_week', doy: 'day_of_year' };
  for (const [written, part] of Object.entries(parts)) {
    const asked = ['sl', 'query', 'orders.count', '-d', `orders.ordered.${written}`];
    const { error } = (await ktxJson(asked, { cwd })).envelope;
    expect(error?.details).toEqual({ choices: [`orders.ordered.${part}`] });
    expect(error?.hint).toContain(`orders.ordered.${part}`);
  }
  const unknown = ['sl', 'query', 'orders.count', '-d', 'orders.ordered.hourly'];
  expect((await ktxJson(unknown, { cwd })).envelope.error?.hint).not.toContain('ordered.hour.');
});

test('sl query takes metrics alone and \\G, and says when the limit is reached', async () => {
  const asked = ['sl', 'query', 'orders.count', '-d', 'orders.status'];
  const records = await ktx([...asked, '\\G'], { cwd });
  expect(records.stdout).toMatch(/^row 1\norders\.status +completed\norders\.count +20\n/);
  const limited = await ktx([...asked, '--limit', '2', '\\G'], { cwd });
  expect(limited.stdout).toMatch(/^row 1\n/);
  expect(limited.stderr).toContain('As many rows as --limit allows; there may be more.');
  expect((await ktx([...asked, '--limit', '4'], { cwd })).stderr).not.toContain('--limit');
});

test('explain takes what queries take: a name alone, and a synonym', async () => {
  for (const name of ['revenue', 'Revenue', 'net sales', 'orders.Net Sales'])
    expect((await ktx(['explain', name], { cwd })).stdout).toMatch(
      /^metric:warehouse\.orders\.revenue\n/,
    );
  expect((await ktx(['explain', 'channel'], { cwd })).stdout).toMatch(/^field:/);
  const unknown = await ktxJson(['explain', 'nothing'], { cwd });
  expect(unknown.envelope.error?.code).toBe('subject_unknown');
});
