import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { folder, ktxJson } from '../cli/run-cli.ts';

const found = z.object({
  hits: z.array(
    z.object({ value: z.string(), dataset: z.string(), field: z.string(), all_known: z.boolean() }),
  ),
});

async function shop(config = ''): Promise<string> {
  const dir = folder();
  const db = new DatabaseSync(join(dir, 'shop.db'));
  const people = ['Ada Lovelace', 'Alan Turing', 'Grace Hopper'];
  const mails = ['ada@example.com', 'alan@example.com', 'grace@example.com'];
  const rows = Array.from({ length: 120 }, (_, n) => {
    const texts = [
      people[n % 3],
      mails[n % 3],
      ['Zürich', 'Genève'][n % 2],
      ['paid', 'cancelled', 'open'][n % 3],
      ['red', 'mail to bob@example.com'][n % 2],
      ['gold', 'tin'][n % 2],
      `note ${n}`,
    ];
    return `(${n + 1}, ${texts.map((text) => `'${text}'`).join(', ')})`;
  });
  db.exec(`CREATE TABLE orders (id INTEGER PRIMARY KEY, buyer TEXT, contact TEXT, city TEXT, status TEXT, tag TEXT, login TEXT, remark TEXT);
    INSERT INTO orders VALUES ${rows.join(', ')};`);
  db.close();
  writeFileSync(
    join(dir, 'ktx.yaml'),
    `connections:\n  shop: {driver: sqlite, path: shop.db}\n${config}`,
  );
  expect((await ktxJson(['ingest'], { cwd: dir })).code).toBe(0);
  return dir;
}

const valuesOf = async (cwd: string, words: string) =>
  found.parse((await ktxJson(['values', words], { cwd })).envelope.data).hits;

test('values of columns with few of them are found as they are spelled, by a part, without accents, and nearly', async () => {
  const dir = await shop();
  expect(await valuesOf(dir, 'cancelled')).toEqual([
    { value: 'cancelled', dataset: 'orders', field: 'status', all_known: true },
  ]);
  for (const words of ['zurich', 'ZÜR', 'Zurick'])
    expect((await valuesOf(dir, words)).map(({ value }) => value)).toEqual(['Zürich']);
  expect(await valuesOf(dir, 'note 1')).toEqual([]);
});

test('a search finds the fields that have a value, and what has a sign that is no word', async () => {
  const dir = await shop();
  const hits = z.object({
    hits: z.array(z.looseObject({ subject: z.string(), value: z.string().optional() })),
  });
  const searched = async (...words: readonly string[]) =>
    hits.parse((await ktxJson(['search', ...words], { cwd: dir })).envelope.data).hits;
  expect((await searched('zurich'))[0]).toMatchObject({
    subject: 'field:shop.orders.city',
    value: 'Zürich',
  });
  expect((await searched('count', 'of', 'cancelled')).at(-1)).toMatchObject({
    subject: 'field:shop.orders.status',
    value: 'cancelled',
  });
  // What has the name comes before what has the value; no other kind is asked for values.
  expect((await searched('status'))[0]).toMatchObject({ subject: 'field:shop.orders.status' });
  expect(await searched('cancelled', '--kind', 'metric')).toEqual([]);
  expect(await searched('gold')).toEqual([]);
  expect(await searched('🐝')).toEqual([]);
  const path = join(dir, 'semantic-layer/shop/orders.yaml');
  writeFileSync(
    path,
    readFileSync(path, 'utf8').replace(
      'dataset: orders',
      'dataset: orders\ndescription: All that we sell to 🐝 keepers',
    ),
  );
  expect((await searched('🐝')).map(({ subject }) => subject)).toEqual(['dataset:shop.orders']);
});

test('what may tell a person is not kept, whether its kind, its name or the value says so, and nothing of it is in git', async () => {
  const dir = await shop();
  for (const words of ['Ada Lovelace', 'ada@example.com', 'bob@example.com', 'gold'])
    expect(await valuesOf(dir, words), words).toEqual([]);
  const files = readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter(
    (path) => !path.startsWith('.') && statSync(join(dir, path)).isFile(),
  );
  const text = files
    .filter((path) => !path.endsWith('.db'))
    .map((path) => readFileSync(join(dir, path), 'utf8'))
    .join('');
  for (const value of ['cancelled', 'Zürich', 'Lovelace']) expect(text).not.toContain(value);
});

test('nothing is kept of a column that the configuration names, nor shown of a field that is hidden or of rows with rules', async () => {
  const dir = await shop(
    'scan: {no_values: [orders.status, "*.main.nothing"]}\n'.replace(', "*.main.nothing"', ''),
  );
  expect(await valuesOf(dir, 'cancelled')).toEqual([]);
  expect(await valuesOf(dir, 'Zürich')).toHaveLength(1);
  const path = join(dir, 'semantic-layer/shop/orders.yaml');
  mkdirSync(join(dir, 'semantic-layer/shop'), { recursive: true });
  const written = readFileSync(path, 'utf8');
  writeFileSync(
    path,
    written
      .replace(/name: city,?/, 'name: city, hidden: true,')
      .replace('hidden: true,}', 'hidden: true}'),
  );
  expect(readFileSync(path, 'utf8')).toContain('hidden: true');
  expect(await valuesOf(dir, 'Zürich')).toEqual([]);
  writeFileSync(path, `${written}\naccess:\n  - {role: team, where: id > 5}\n`);
  expect(await valuesOf(dir, 'Zürich')).toEqual([]);
});
