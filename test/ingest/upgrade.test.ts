import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ktx, ktxJson } from '../cli/run-cli.ts';
import { run } from '../store/git-project.ts';

/** Written by former versions, with the edits of a person: see the comments in their files. */
const fixtures = ['project-0.1.0', 'project-long-lines', 'project-full-evidence'];

function shopDatabase(path: string): void {
  const db = new DatabaseSync(path);
  db.exec(
    `CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, Region_Name TEXT);
     CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers(id),
       amount NUMERIC, status TEXT CHECK (status IN ('paid','open')), placed_on DATE);`,
  );
  for (let row = 1; row <= 12; row += 1)
    db.exec(`INSERT INTO customers VALUES (${row}, 'c${row}', 'r${row % 3}')`);
  for (let row = 1; row <= 40; row += 1)
    db.exec(
      `INSERT INTO orders VALUES (${row}, ${(row % 12) + 1}, ${row}.5, '${row % 3 ? 'paid' : 'open'}', '2025-01-${10 + (row % 18)}')`,
    );
  db.close();
}

test.for(fixtures)(
  '%s becomes one of today in one commit that says so; names and edits stay',
  async (project) => {
    const fixture = new URL(`../fixtures/${project}`, import.meta.url).pathname;
    const cwd = mkdtempSync(join(tmpdir(), 'ktx-upgrade-'));
    cpSync(fixture, cwd, { recursive: true });
    renameSync(join(cwd, 'gitattributes'), join(cwd, '.gitattributes'));
    shopDatabase(join(cwd, 'shop.db'));
    const git = (...args: readonly string[]) => run(cwd, ...args);
    git('init', '-q');
    git('add', '-A');
    git('reset', '-q', 'shop.db');
    git('commit', '-qm', 'As a former version left it');
    const read = (path: string) => readFileSync(join(cwd, path), 'utf8');
    const names = (text: string) => [...text.matchAll(/name: (\w+)/g)].map(([, name]) => name);
    const files = readdirSync(cwd, { recursive: true, encoding: 'utf8' });
    const before = {
      orders: read('semantic-layer/warehouse/orders.yaml'),
      wiki: read('wiki/glossary.md'),
    };
    const bytes = read('claims/warehouse/orders.jsonl').length;

    expect(await ktx(['trust', '--yes'], { cwd })).toMatchObject({ code: 0 });
    expect(await ktx(['ingest'], { cwd })).toMatchObject({ code: 0 });
    const log = git('log', '--format=%B', '-1');
    expect(log).toContain('Upgrades files of an earlier version of ktx');
    expect(git('rev-list', '--count', 'HEAD')).toBe('2');

    const orders = read('semantic-layer/warehouse/orders.yaml');
    for (const line of ['# Ann:', '# agreed with finance', "description: 'In euros, with VAT.'"])
      expect(orders).toContain(line);
    expect(orders).not.toContain('What customers bought.');
    expect(names(orders)).toEqual(expect.arrayContaining(names(before.orders)));
    expect(read('wiki/glossary.md')).toBe(before.wiki);
    for (const path of files)
      expect(readdirSync(cwd, { recursive: true, encoding: 'utf8' })).toContain(path);
    const claims = read('claims/warehouse/orders.jsonl');
    expect(claims.length).toBeLessThan(bytes / 1.4);
    expect(claims).toContain('["customer_id","integer",2]');
    expect(read('sources/warehouse/index.jsonl')).not.toContain('hash');
    const { envelope } = await ktxJson(
      ['sl', 'query', '-m', 'orders.paid', '-m', 'orders.order_total'],
      { cwd },
    );
    expect(envelope.data).toMatchObject({ rows: [[27, 840]] });

    // The next run has nothing to do.
    expect(await ktx(['ingest'], { cwd })).toMatchObject({ code: 0 });
    expect(git('rev-list', '--count', 'HEAD')).toBe('2');
    rmSync(cwd, { recursive: true, force: true });
  },
);

test('claims that are only written otherwise are not copied aside as those of a person', async () => {
  const fixture = new URL('../fixtures/project-full-evidence', import.meta.url).pathname;
  const cwd = mkdtempSync(join(tmpdir(), 'ktx-upgrade-'));
  cpSync(fixture, cwd, { recursive: true });
  shopDatabase(join(cwd, 'shop.db'));
  run(cwd, 'init', '-q');
  expect(await ktx(['trust', '--yes'], { cwd })).toMatchObject({ code: 0 });
  expect(await ktx(['ingest'], { cwd })).toMatchObject({ code: 0 });
  expect(readFileSync(join(cwd, 'claims/warehouse/orders.jsonl'), 'utf8')).toContain('{"item":');
  expect(existsSync(join(cwd, '.ktx/kept'))).toBe(false);
  rmSync(cwd, { recursive: true, force: true });
});
