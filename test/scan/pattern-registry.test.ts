import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  patternDatabases,
  patternFamilies,
  type PatternUse,
} from '../../bench/relationships/patterns/registry.ts';

const uses = Object.keys(patternFamilies) as PatternUse[];
const folder = join(import.meta.dirname, '../../bench/relationships/patterns');

test('each family of databases is used for one thing, and every file has its use', () => {
  const families: string[] = uses.flatMap((use) => patternFamilies[use]);
  expect(new Set(families).size).toBe(families.length);
  for (const use of uses)
    expect(readdirSync(join(folder, use)).sort()).toEqual(
      patternFamilies[use].map((family) => `${family}.txt`),
    );
});

test('sixty databases and more, with rows and links that differ by name', () => {
  const databases = uses.flatMap((use) => patternDatabases(use));
  expect(databases.length).toBeGreaterThanOrEqual(60);
  expect(new Set(databases.map(({ name }) => name)).size).toBe(databases.length);
  for (const { name, database } of databases) {
    const tables = new Map(
      [...database.tables, ...(database.copies ?? [])].map((table) => [table.name, table]),
    );
    for (const { from, to } of database.truth.links)
      expect(tables.has(from) && tables.has(to), `${name}: ${from} -> ${to}`).toBe(true);
  }
});

test('the rows are the same in every run', () => {
  const text = (): string => JSON.stringify(patternDatabases('calibration')[0]);
  expect(text()).toBe(text());
});
