import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { folder, ktx } from './run-cli.ts';

test('setup and ingest say which view of SQLite is broken, and why', async () => {
  const cwd = folder();
  const db = new DatabaseSync(join(cwd, 'shop.db'));
  db.exec(`CREATE TABLE orders (id INTEGER PRIMARY KEY);
    CREATE TABLE old (id INTEGER); CREATE VIEW fine AS SELECT id FROM orders;
    CREATE VIEW "of old" AS SELECT id FROM old; DROP TABLE old;`);
  db.close();
  const said = /the view of old is broken and was left out: .*no such table: main\.old/;
  const setup = await ktx(['setup', '--driver', 'sqlite', '--path', 'shop.db'], { cwd });
  expect(setup).toMatchObject({ code: 0, stderr: expect.stringMatching(said) as string });
  const ingest = await ktx(['ingest'], { cwd });
  expect(ingest).toMatchObject({ code: 0, stdout: expect.stringMatching(said) as string });
  expect(ingest.stdout).toContain('2 tables');
});
