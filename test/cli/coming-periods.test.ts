import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { folder, ktx, ktxJson } from './run-cli.ts';

test('a comparison marks periods that have only a period before', async () => {
  const cwd = folder();
  const db = new DatabaseSync(join(cwd, 'shop.db'));
  db.exec(`CREATE TABLE visits (id INTEGER PRIMARY KEY, day DATE, shop TEXT);
    INSERT INTO visits VALUES (1, '2024-01-05', 'a'), (2, '2024-02-05', 'b'), (3, '2024-04-05', 'a'),
      (4, '2025-01-05', 'a'), (5, '2025-03-05', 'b');`);
  db.close();
  await ktx(['setup', '--driver', 'sqlite', '--path', 'shop.db'], { cwd });
  expect((await ktx(['ingest'], { cwd })).code).toBe(0);
  const compared = ['sl', 'query', '-m', 'visits.count', '--compare-to', '1 year'];
  const warningsOf = async (...argv: string[]) => {
    const { envelope } = await ktxJson([...compared, ...argv], { cwd });
    return (envelope.data as { warnings: string[] }).warnings;
  };
  // February has none of this year, but March has.
  expect(await warningsOf('-d', 'visits.day.month')).toEqual([
    expect.stringMatching(/^visits\.day\.month: 2025-04-01 to 2026-03-01 has values only of/),
  ]);
  // What b lacks in the first quarter is a number about b.
  expect(await warningsOf('-d', 'visits.day.quarter', 'visits.shop')).toEqual([
    expect.stringMatching(/^visits\.day\.quarter: 2025-04-01 to 2026-01-01 has/),
  ]);
  const before = "visits.day < '2025-04-01'";
  expect(await warningsOf('-d', 'visits.day.month', '--where', before)).toEqual([]);
});
