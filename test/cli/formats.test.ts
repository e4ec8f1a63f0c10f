import { DuckDBInstance } from '@duckdb/node-api';
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { folder, ktx, ktxJson, shopDatabase } from './run-cli.ts';

const shop = async (): Promise<string> => {
  const dir = folder();
  shopDatabase(join(dir, 'shop.db'));
  await ktx(['setup', '--driver', 'sqlite', '--path', 'shop.db'], { cwd: dir });
  return dir;
};

test('rows come in every format', async () => {
  const dir = await shop();
  const sql = "SELECT 1 AS a, 'x|y' AS b, NULL AS c, 2 AS a";
  const asFormat = async (...flags: string[]) =>
    (await ktx(['sql', sql, ...flags], { cwd: dir })).stdout;
  expect(await asFormat('--format', 'jsonl')).toBe('{"a":1,"b":"x|y","c":null,"a_2":2}\n');
  expect(await asFormat('--format', 'markdown')).toBe(
    '| a | b | c | a |\n| ---: | --- | --- | ---: |\n| 1 | x\\|y | NULL | 2 |\n',
  );
  const vertical = 'row 1\na  1\nb  x|y\nc  NULL\na  2\n';
  expect(await asFormat('--format', 'vertical')).toBe(vertical);
  expect(await asFormat('--vertical')).toBe(vertical);
  const typed = async (...argv: string[]) => (await ktx(['sql', ...argv], { cwd: dir })).stdout;
  expect(await typed(`${sql} \\G`)).toBe(vertical);
  expect(await typed(`${sql};\\G;\n`)).toBe(vertical);
  // What was asked for by a flag holds, and a text is a text.
  expect(await typed(`${sql}\\G`, '--format', 'jsonl')).toContain('"a_2":2');
  expect(await typed("SELECT '\\G' AS a")).toBe('a\n\\G\n');
  const refused = await ktx(['sql', sql, '--format', 'parquet'], { cwd: dir, terminal: true });
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('> rows.parquet')]);
});

test('a sum of doubles has no dust where people read it, and every digit as CSV and JSON', async () => {
  const dir = await shop();
  const sql = 'SELECT 7225.40000000001 AS a, 20849.349999999973 AS b, 0.1234567890123456 AS c';
  const asFormat = async (format: string) =>
    (await ktx(['sql', sql, '--format', format], { cwd: dir })).stdout.trimEnd().split('\n').at(-1);
  expect(await asFormat('markdown')).toBe('| 7225.4 | 20849.35 | 0.123456789012346 |');
  expect(await asFormat('table')).toBe('7225.4  20849.35  0.123456789012346');
  expect(await asFormat('csv')).toBe('7225.40000000001,20849.349999999973,0.1234567890123456');
  expect(await asFormat('jsonl')).toBe(
    '{"a":7225.40000000001,"b":20849.349999999973,"c":0.1234567890123456}',
  );
});

test('a number that has no dust keeps its digits, also with seventeen of them or many before the point', async () => {
  const dir = await shop();
  const sql =
    'SELECT 1234567890123.4568 AS a, 0.12345678901234568 AS b, 1234567890.00345 AS c, 12345678901.0001 AS d, 1234567890123456.5 AS e';
  const asFormat = async (format: string) =>
    (await ktx(['sql', sql, '--format', format], { cwd: dir })).stdout.trimEnd().split('\n').at(-1);
  expect(await asFormat('csv')).toBe(
    '1234567890123.4568,0.12345678901234568,1234567890.00345,12345678901.0001,1234567890123456.5',
  );
  expect(await asFormat('markdown')).toBe(
    '| 1234567890123.46 | 0.123456789012346 | 1234567890.00345 | 12345678901.0001 | 1234567890123456.5 |',
  );
});

test('the file of a metric opens from the receipt where the terminal can', async () => {
  const dir = await shop();
  mkdirSync(join(dir, 'semantic-layer/warehouse'), { recursive: true });
  const file = 'semantic-layer/warehouse/orders.yaml';
  writeFileSync(
    join(dir, file),
    'dataset: orders\nsource: orders\nprimary_key: [id]\nfields: [{name: id}]\nmetrics: [{name: count, agg: count}]\n',
  );
  const argv = ['sl', 'query', '-m', 'orders.count'];
  const asked = async (env: Record<string, string>) =>
    (await ktx(argv, { cwd: dir, env, terminal: true })).stderr;
  const url = pathToFileURL(join(dir, file)).href;
  expect(await asked({ TERM_PROGRAM: 'WezTerm' })).toContain(
    `\u001b]8;;${url}\u001b\\${file}\u001b]8;;\u001b\\`,
  );
  expect(await asked({ TERM: 'xterm' })).not.toContain(']8;;');
});

test('Parquet on stdout is a file that DuckDB reads', async () => {
  const dir = await shop();
  const main = join(import.meta.dirname, '../../src/cli/main.ts');
  const argv = [main, 'sql', 'SELECT 7 AS a', '--format', 'parquet'];
  const bytes = execFileSync(process.execPath, argv, {
    cwd: dir,
    env: { ...process.env, KTX_PROJECT_DIR: dir },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  writeFileSync(join(dir, 'rows.parquet'), bytes);
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const path = join(dir, 'rows.parquet');
  const reader = await connection.runAndReadAll(`SELECT a FROM read_parquet('${path}')`);
  expect(reader.getRowsJson()).toEqual([[expect.stringMatching(/^7/)]]);
  connection.closeSync();
  instance.closeSync();
});

test('the list of datasets has metrics and joins as lists', async () => {
  const dir = await shop();
  mkdirSync(join(dir, 'semantic-layer/warehouse'), { recursive: true });
  const put = (name: string, text: string) =>
    writeFileSync(join(dir, `semantic-layer/warehouse/${name}.yaml`), text);
  put(
    'customers',
    'dataset: customers\nsource: customers\nprimary_key: [id]\nfields: [{name: id}]\n',
  );
  put(
    'orders',
    'dataset: orders\nsource: orders\nfields: [{name: customer_id}]\nrelationships: [{to: customers, role: buyer, on: {customer_id: id}}]\n',
  );
  const { envelope } = await ktxJson(['sl', 'list'], { cwd: dir });
  expect(envelope.data).toMatchObject({
    datasets: [
      { dataset: 'customers', joins: [] },
      { dataset: 'orders', joins: [{ to: 'customers', role: 'buyer' }] },
    ],
  });
});

test('pages, terms and rules of the wiki are listed and read', async () => {
  const dir = await shop();
  expect((await ktx(['wiki', 'list'], { cwd: dir })).stderr).toContain('There is no page yet');
  mkdirSync(join(dir, 'wiki'));
  writeFileSync(join(dir, 'wiki/glossary.md'), '# Glossary\n\n## Churn\n\nA customer who left.\n');
  expect((await ktx(['wiki', 'list', '--format', 'csv'], { cwd: dir })).stdout).toBe(
    'page,sections,contested,stale\nglossary,Churn,"",""\n',
  );
  expect((await ktx(['wiki', 'read', 'Glossary'], { cwd: dir })).stdout).toContain('# Glossary');
  const term = await ktx(['wiki', 'read', 'churn'], { cwd: dir });
  expect([term.stdout, term.stderr]).toEqual([
    expect.stringContaining('A customer who left.'),
    expect.stringContaining('wiki/glossary.md:3'),
  ]);
  const unknown = await ktx(['wiki', 'read', 'chrun'], { cwd: dir });
  expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringMatching(/did you mean churn/i)]);
});

test('a word that should be text is told how to be text', async () => {
  const dir = await shop();
  const query = 'SELECT * FROM customers WHERE name = USA';
  const wrong = await ktx(['sql', query], { cwd: dir });
  expect(wrong.stderr).toContain("If USA is text and no column, put it in quotes: 'USA'.");
});

test('the joins come as a picture', async () => {
  const dir = await shop();
  const argv = ['sl', 'graph', '--svg'];
  await ktx(['ingest'], { cwd: dir });
  const { stdout } = await ktx(argv, { cwd: dir });
  expect(stdout).toMatch(/^<svg xmlns[^]*>customers<[^]*<\/svg>\n$/);
  const { envelope } = await ktxJson(argv, { cwd: dir });
  expect(envelope).toMatchObject({ data: { svg: stdout } });
  expect((await ktx([...argv, '--mermaid'], { cwd: dir })).code).toBe(2);
});
