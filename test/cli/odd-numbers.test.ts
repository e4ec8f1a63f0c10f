import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { folder, ktx, ktxJson } from './run-cli.ts';

test('an answer says which numbers are infinite, and which condition no row meets', async () => {
  const cwd = folder();
  const db = new DatabaseSync(join(cwd, 'shop.db'));
  db.exec(`CREATE TABLE visits (id INTEGER PRIMARY KEY, shop TEXT, seconds REAL);
    INSERT INTO visits VALUES (1, 'a', 1.5), (2, 'a', 9e999), (3, 'b', 2.5), (4, NULL, 1);`);
  db.close();
  await ktx(['setup', '--driver', 'sqlite', '--path', 'shop.db'], { cwd });
  expect((await ktx(['ingest'], { cwd })).code).toBe(0);
  const query = async (...argv: string[]) => {
    const { envelope } = await ktxJson(['sl', 'query', ...argv], { cwd });
    return envelope.data as { rows: unknown[][]; warnings: string[]; receipt: { notes: string[] } };
  };
  const sums = await query('-m', 'total=sum(visits.seconds)', '-d', 'visits.shop');
  expect(sums.rows).toContainEqual(['a', 'Infinity']);
  expect(sums.warnings).toEqual([expect.stringMatching(/^total is Infinity in 1 row: /)]);
  const finite = ['-m', 'total=sum(visits.seconds)', '--where', 'visits.id <> 2'];
  expect((await query(...finite)).warnings).toEqual([]);

  const counted = (where: string) => query('-m', 'visits.count', '--where', where);
  const none = await counted("visits.shop not in ('b', NULL)");
  expect(none.rows).toEqual([[0]]);
  expect(none.receipt.notes).toContainEqual(
    expect.stringContaining('No row meets NOT IN with NULL in the list'),
  );
  for (const where of ["visits.shop not in ('b', 'null')", "visits.shop in ('b', NULL)"])
    expect((await counted(where)).receipt.notes.join(), where).not.toContain('No row meets');
});
