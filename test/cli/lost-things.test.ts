import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { ktx, ktxJson, shopProject } from './run-cli.ts';

const customers = 'semantic-layer/warehouse/customers.yaml';

function inDatabase(cwd: string, statements: string): void {
  const db = new DatabaseSync(join(cwd, 'shop.db'));
  db.exec(statements);
  db.close();
}

test('what is left of a dropped table that a person edited says what to do, everywhere', async () => {
  const cwd = await shopProject();
  await ktx(['ingest'], { cwd });
  const file = join(cwd, customers);
  const edited = '{name: region, type: string, description: Where they live.}';
  writeFileSync(file, readFileSync(file, 'utf8').replace('{name: region, type: string}', edited));
  inDatabase(cwd, 'DROP TABLE customers');
  await ktx(['ingest'], { cwd });
  expect(readFileSync(file, 'utf8')).toContain('Where they live.');

  const check = await ktxJson(['check'], { cwd });
  const findings = JSON.stringify(check.envelope);
  expect(findings).toContain('If its table is gone from the warehouse, delete the file');
  expect(findings).toContain('customers.fields.region: gone');
  expect(findings).toContain(`delete it from ${customers}, or the whole file`);
  for (const command of [['status'], ['review', 'list']])
    expect((await ktx(command, { cwd })).stdout).toContain('customers.fields.region: gone');

  rmSync(file);
  await ktx(['ingest'], { cwd });
  expect((await ktx(['check'], { cwd })).code).toBe(0);
});

test('a query of a metric that the last ingest left out says why', async () => {
  const cwd = await shopProject();
  mkdirSync(join(cwd, 'docs'));
  const table = (column: string) =>
    `| Metric | Formula | Table |\n|---|---|---|\n| Gross | sum(${column} * 2) | orders |\n`;
  writeFileSync(join(cwd, 'docs/metrics.md'), table('amount'));
  await ktx(['connection', 'add', 'docs', '--driver', 'docs', '--path', 'docs'], { cwd });
  await ktx(['ingest'], { cwd });
  expect((await ktx(['sl', 'query', '-m', 'orders.gross'], { cwd })).code).toBe(0);

  inDatabase(cwd, 'ALTER TABLE orders RENAME COLUMN amount TO total');
  await ktx(['ingest'], { cwd });
  for (const name of ['orders.gross', 'gross']) {
    const { envelope } = await ktxJson(['sl', 'query', '-m', name], { cwd });
    expect(envelope.error?.code).toBe('unknown_name');
    expect(envelope.error?.message).toMatch(
      /^There is no metric named \S+\. The last ingest left metric:warehouse\.orders\.gross out \(sources\/docs\/metrics\.md line 3\): .*amount/,
    );
  }
  const other = await ktxJson(['sl', 'query', '-m', 'orders.nothing'], { cwd });
  expect(other.envelope.error?.message).toBe('There is no metric named orders.nothing');
});
