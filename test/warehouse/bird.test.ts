import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { generous, makeDatabase, never } from '../support/warehouses.ts';

interface Bird {
  readonly databases: Readonly<
    Record<string, { readonly script: string; readonly statements: readonly string[] }>
  >;
}

const file = new URL('../conformance/bird-sql.json', import.meta.url);
const { databases } = JSON.parse(readFileSync(file, 'utf8')) as Bird;

test('there are 500 statements over eleven databases', () => {
  const statements = Object.values(databases).flatMap((database) => database.statements);
  expect(Object.keys(databases)).toHaveLength(11);
  expect(new Set(statements).size).toBe(500);
});

test.each(Object.entries(databases))('%s answers every statement', async (_, made) => {
  const database = await makeDatabase('sqlite', made.script);
  const warehouse = await database.open();
  const failures: string[] = [];
  for (const sql of made.statements)
    await warehouse
      .query(sql, generous, never)
      .catch((error: unknown) => failures.push(`${sql} → ${String(error)}`));
  await warehouse.close();
  await database.remove();
  expect(failures).toEqual([]);
});
