import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { noLabels, readColumnLabels } from '../../src/context/catalog/column-labels.ts';
import { maySendValues } from '../../src/scan/profile/send-policy.ts';
import { folder, ktxJson } from '../cli/run-cli.ts';

const file = 'semantic-layer/shop/orders.yaml';

/** A shop after its first ingest. `login` looks personal; `status` and `city` do not. */
async function shop(config = ''): Promise<string> {
  const dir = folder();
  const db = new DatabaseSync(join(dir, 'shop.db'));
  const rows = Array.from({ length: 120 }, (_, n) => {
    const texts = [
      ['paid', 'cancelled'],
      ['Zürich', 'Genève'],
      ['gold', 'tin'],
    ].map((values) => `'${values[n % 2] ?? ''}'`);
    return `(${n + 1}, ${texts.join(', ')})`;
  });
  db.exec(`CREATE TABLE orders (id INTEGER PRIMARY KEY, status TEXT, city TEXT, login TEXT);
    INSERT INTO orders VALUES ${rows.join(', ')};`);
  db.close();
  writeFileSync(
    join(dir, 'ktx.yaml'),
    `connections:\n  shop: {driver: sqlite, path: shop.db}\n${config}`,
  );
  expect((await ktxJson(['ingest'], { cwd: dir })).code).toBe(0);
  return dir;
}

/** Writes the keys into the field's entry, in place of those of the last call. */
function label(dir: string, field: string, keys: string): void {
  const path = join(dir, file);
  const text = readFileSync(path, 'utf8');
  const labeled = text.replace(
    new RegExp(`\\{name: ${field},(?: (?:pii|values): \\w+,)*`),
    `{name: ${field},${keys}`,
  );
  expect(labeled).not.toBe(text);
  writeFileSync(path, labeled);
}

const hits = z.object({ hits: z.array(z.looseObject({ value: z.string().optional() })) });
async function find(cwd: string, command: 'values' | 'search', words: string) {
  const { envelope } = await ktxJson([command, words], { cwd });
  return hits.parse(envelope.data).hits.flatMap(({ value }) => value ?? []);
}
const scan = async (cwd: string) => (await ktxJson(['scan'], { cwd })).envelope.data;

const stateText = (dir: string): string => readFileSync(join(dir, '.ktx/state.db'), 'latin1');

describe('a label in a dataset file', () => {
  test('pii: yes takes the values out of the state at once, and no scan reads the table again for it', async () => {
    const dir = await shop();
    expect(await find(dir, 'values', 'cancelled')).toEqual(['cancelled']);
    expect(stateText(dir)).toContain('cancelled');
    label(dir, 'status', ' pii: yes,');
    expect(await find(dir, 'search', 'cancelled')).toEqual([]);
    expect(await find(dir, 'values', 'cancelled')).toEqual([]);
    expect(stateText(dir)).not.toContain('cancelled');
    expect(await scan(dir)).toMatchObject({ profiled: 0, reused: 1 });
    expect(await find(dir, 'values', 'cancelled')).toEqual([]);
    expect(await find(dir, 'values', 'Zürich')).toEqual(['Zürich']);
    label(dir, 'status', '');
    expect(await scan(dir)).toMatchObject({ profiled: 1, reused: 0 });
    expect(await find(dir, 'values', 'cancelled')).toEqual(['cancelled']);
  });

  test('pii: no frees values from the next scan on, until it is taken back', async () => {
    const dir = await shop();
    expect(await find(dir, 'values', 'gold')).toEqual([]);
    label(dir, 'login', ' pii: no,');
    expect(await scan(dir)).toMatchObject({ profiled: 1 });
    expect(await find(dir, 'values', 'gold')).toEqual(['gold']);
    label(dir, 'login', '');
    expect(await scan(dir)).toMatchObject({ profiled: 0, reused: 1 });
    expect(await find(dir, 'values', 'gold')).toEqual([]);
    expect(stateText(dir)).not.toContain('gold');
  });

  test('values: off and scan.no_values win over pii: no and scan.not_personal', async () => {
    const dir = await shop('scan: {no_values: [orders.login], not_personal: [orders.login]}\n');
    label(dir, 'city', ' pii: no, values: off,');
    label(dir, 'login', ' pii: no,');
    await scan(dir);
    expect(await find(dir, 'values', 'gold')).toEqual([]);
    expect(await find(dir, 'values', 'Zürich')).toEqual([]);
    expect(await find(dir, 'values', 'paid')).toEqual(['paid']);
    expect(stateText(dir)).not.toMatch(/gold|Gen/);
  });

  test('pii: yes wins over scan.not_personal', async () => {
    const dir = await shop('scan: {not_personal: [orders.login]}\n');
    expect(await find(dir, 'values', 'gold')).toEqual(['gold']);
    label(dir, 'login', ' pii: yes,');
    expect(await find(dir, 'values', 'gold')).toEqual([]);
    await scan(dir);
    expect(await find(dir, 'values', 'gold')).toEqual([]);
  });

  test('stays in the file, and an ingest obeys it', async () => {
    const dir = await shop();
    label(dir, 'status', ' pii: yes,');
    label(dir, 'city', ' values: off,');
    const written = readFileSync(join(dir, file), 'utf8');
    const db = new DatabaseSync(join(dir, 'shop.db'));
    db.exec("ALTER TABLE orders ADD COLUMN size TEXT; UPDATE orders SET size = 'XL'");
    db.close();
    expect((await ktxJson(['ingest'], { cwd: dir })).code).toBe(0);
    const merged = readFileSync(join(dir, file), 'utf8');
    for (const line of written.split('\n').filter((each) => /pii:|values:/.test(each)))
      expect(merged).toContain(line);
    expect(merged).toContain('size');
    expect(stateText(dir)).toContain('XL');
    expect(stateText(dir)).not.toMatch(/cancelled|Gen/);
    expect((await ktxJson(['sl', 'validate'], { cwd: dir })).code).toBe(0);
  });

  test('counts although the file has errors elsewhere, or is no YAML', async () => {
    const dir = await shop();
    label(dir, 'status', ' pii: yes,');
    const path = join(dir, file);
    const written = readFileSync(path, 'utf8');
    for (const broken of [`${written}\nnonsense: 1\n`, `${written}\n]: {\n`]) {
      writeFileSync(path, broken);
      await scan(dir);
      expect(stateText(dir)).not.toContain('cancelled');
    }
  });
});

const readLabels = (text: string) => readColumnLabels([[file, `dataset: orders\n${text}`]]);
const table = { schema: 'main', table: 'Orders' };
const open = { pii: undefined, valuesOff: false };

describe('labels are read', () => {
  test.each([
    ['yes', true],
    ['true', true],
    ['"yes"', true],
    ['no', false],
    ['false', false],
    ['No', false],
    ['perhaps', true],
  ])('pii: %s', (written, pii) => {
    const labels = readLabels(`source: main.orders\nfields: [{name: a, pii: ${written}}]`);
    expect(labels.of('shop', table, 'A')).toEqual({ pii, valuesOff: false });
    expect(labels.of('shop', table, 'b')).toEqual(open);
    expect(labels.of('other', table, 'a')).toEqual(open);
    expect(labels.of('shop', { schema: 'main', table: 'order' }, 'a')).toEqual(open);
  });

  test('values: off and values: false, but not a list', () => {
    const labels = readLabels(
      'source: orders\nfields: [{name: a, values: off}, {name: b, values: false}, {name: c, values: [x]}]',
    );
    const isOff = (column: string) => labels.of('shop', table, column).valuesOff;
    expect(['a', 'b', 'c'].map(isOff)).toEqual([true, true, false]);
  });

  test('those of a dataset count for its columns, unless a field says it for itself', () => {
    const labels = readLabels('source: main.orders\npii: yes\nfields: [{name: a, pii: no}]');
    expect(['a', 'b'].map((column) => labels.of('shop', table, column).pii)).toEqual([false, true]);
    const off = readLabels('source: main.orders\nvalues: off\nfields: [{name: a, pii: no}]');
    expect(off.of('shop', table, 'a')).toEqual({ pii: false, valuesOff: true });
  });

  test('pii: no frees only the table that the source names whole; pii: yes closes each that it can mean', () => {
    const other = { schema: 'staff', table: 'orders' };
    const attached = { catalog: 'hr', schema: 'main', table: 'orders' };
    const read = (source: string, keys: string) => {
      const labels = readLabels(`source: ${source}\n${keys}`);
      return [table, other, attached].map((each) => labels.of('shop', each, 'a').pii);
    };
    const [no, yes] = ['no', 'yes'].map((word) => `fields: [{name: a, pii: ${word}}]`);
    expect(read('orders', `${no}`)).toEqual([undefined, undefined, undefined]);
    expect(read('orders', 'pii: no')).toEqual([undefined, undefined, undefined]);
    expect(read('orders', `pii: yes\n${no}`)).toEqual([true, true, true]);
    expect(read('orders', `${yes}`)).toEqual([true, true, true]);
    expect(read('main.orders', `${no}`)).toEqual([false, undefined, undefined]);
    expect(read('hr.main.orders', `${no}`)).toEqual([false, undefined, false]);
  });

  test('those of an expression close each column in it, also through other fields, and free none', () => {
    const labels = readLabels(`source: main.orders
fields:
  - {name: mail, expr: '"E-Mail"'}
  - {name: key, expr: "lower(mail) || 'city' || b", pii: yes}
  - {name: short, expr: 'substr(d, 1, 2)', pii: no}
  - {name: free, expr: '"Ort"', pii: no}`);
    const words = ['e-mail', 'b', 'city', 'd', 'ort'].map(
      (column) => labels.of('shop', table, column).pii,
    );
    expect(words).toEqual([true, true, undefined, undefined, false]);
  });

  test('of two fields on one column the stricter one counts', () => {
    const labels = readLabels(
      'source: main.orders\nfields: [{name: a, pii: no}, {name: b, expr: a, pii: yes}]',
    );
    expect(labels.of('shop', table, 'a').pii).toBe(true);
  });
});

test('labels decide what may be sent to a model', () => {
  const settings = { send_samples: true, no_values: ['t.off'], not_personal: ['t.email'] };
  const at = { schema: 'main', table: 't' };
  const may = (column: string, own: object) =>
    maySendValues(settings, { table: at, column, label: { ...open, ...own } });
  expect(noLabels.of('shop', at, 'email')).toEqual(open);
  expect(may('email', {})).toBe(true);
  expect(may('email', { pii: true })).toBe(false);
  expect(may('phone', {})).toBe(false);
  expect(may('phone', { pii: false })).toBe(true);
  expect(may('phone', { pii: false, valuesOff: true })).toBe(false);
  expect(may('off', { pii: false })).toBe(false);
});
