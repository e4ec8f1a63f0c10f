import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, expect, test } from 'vitest';
import type { GeneratedDatabase } from '../../bench/relationships/generated-database.ts';
import { patternDatabases } from '../../bench/relationships/patterns/registry.ts';
import { buildDatabase } from '../../bench/relationships/schema-builder.ts';
import { readSchemaText } from '../../bench/relationships/schema-text.ts';
import { f1, scanFile, scoreOf, withWarehouse } from '../../bench/relationships/score.ts';
import { writeDatabase } from '../../bench/relationships/write-database.ts';
import { scanConfigSchema } from '../../src/scan/config.ts';
import { scan } from '../../src/scan/scan.ts';

const dir = mkdtempSync(join(tmpdir(), 'ktx-monotone-'));
afterAll(() => rmSync(dir, { recursive: true }));
let files = 0;

/** What is found in a database, and how good it is. */
async function found(
  database: GeneratedDatabase,
  declares: 'nothing' | 'keys' = 'nothing',
): Promise<{ readonly score: number; readonly faults: string }> {
  const path = join(dir, `${files++}.sqlite`);
  writeDatabase(path, database, declares);
  const score = scoreOf('', await scanFile(path, undefined), database.truth);
  rmSync(path);
  return { score: f1(score), faults: [...score.missed, ...score.wrong].join('\n') };
}

const databases = patternDatabases('calibration').map(
  ({ name, database }) => [name, database] as const,
);

/** The database with a part of the rows of each table that nothing refers to. */
function withFewerRows({ tables, ...rest }: GeneratedDatabase): GeneratedDatabase {
  const referred = new Set(rest.truth.links.map(({ to }) => to));
  const fewer = tables.map((table) => {
    if (referred.has(table.name)) return table;
    const columns = table.columns.map((column) => ({
      ...column,
      values: column.values.slice(0, Math.ceil(column.values.length / 3)),
    }));
    return { ...table, columns };
  });
  return { ...rest, tables: fewer };
}

/** Tables about something else, with dense numbers. */
const others = buildDatabase(
  'others',
  readSchemaText(`
planet 400
  id serial !
  moons int=0..80
  star_id >star.id
star 90
  id serial !
  magnitude int=1..9
telescope_night 700
  telescope_night_id serial !
  clouds int=0..8
  star_id >star.id
`),
);

const withOthers = (database: GeneratedDatabase): GeneratedDatabase => ({
  ...database,
  tables: [...database.tables, ...others.tables],
  truth: {
    ...database.truth,
    primary_keys: { ...database.truth.primary_keys, ...others.truth.primary_keys },
    open: [...(database.truth.open ?? []), ...others.truth.links],
  },
});

test.each(databases)(
  'joins of %s are no worse with keys known, with more rows, and beside other tables',
  async (_, database) => {
    const bare = await found(database);
    const more = [
      ['keys known', await found(database, 'keys'), bare],
      ['more rows', bare, await found(withFewerRows(database))],
      ['more tables', await found(withOthers(database)), bare],
    ] as const;
    for (const [what, after, before] of more)
      expect(after.score, `${what}\n${after.faults}`).toBeGreaterThanOrEqual(before.score);
  },
);

test('what a comment says changes no join', async () => {
  const [, database] = databases[0] ?? [];
  if (database === undefined) throw new Error('no database');
  const path = join(dir, 'comments.sqlite');
  writeDatabase(path, database);
  const links = (isCommented: boolean) =>
    withWarehouse(path, async (warehouse) => {
      const signal = new AbortController().signal;
      const read = await warehouse.introspect({}, signal);
      const comment = 'Refers to nothing. Do not use.';
      const tables = read.tables.map((table) => ({
        ...table,
        comment,
        columns: table.columns.map((column) => ({ ...column, comment })),
      }));
      const config = scanConfigSchema.parse({});
      const schema = isCommented ? { ...read, tables } : read;
      const state = { db: new DatabaseSync(':memory:') };
      return (await scan({ warehouse, schema, scope: {}, state, config, signal })).links;
    });
  expect(await links(true)).toEqual(await links(false));
});
