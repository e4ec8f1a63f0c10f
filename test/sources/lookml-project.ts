import { cpSync, mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeWarehouseFile } from '../../src/cli/demo/warehouse-file.ts';
import type { LookmlConfig } from '../../src/sources/lookml/config.ts';
import { lookml } from '../../src/sources/lookml/source.ts';
import type { Catalog } from '../../src/context/catalog/catalog.ts';
import { openWarehouse } from '../../src/warehouse/open.ts';
import { run, write } from '../store/git-project.ts';
import { summary } from './dbt-fixture.ts';

const fixture = new URL('../fixtures/lookml-fernholm', import.meta.url).pathname;

/** A project over the sample company's database, with LookML of that company in `looker/`. */
export async function lookmlProject(): Promise<string> {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'ktx-lookml-')));
  cpSync(fixture, join(dir, 'looker'), { recursive: true });
  await writeWarehouseFile(join(dir, 'warehouse.duckdb'));
  write(dir, 'ktx.yaml', 'connections:\n  shop: {driver: duckdb, path: warehouse.duckdb}\n');
  write(dir, '.gitignore', 'warehouse.duckdb*\n.ktx\n');
  run(dir, 'init', '-q', '-b', 'main');
  run(dir, 'add', '.');
  run(dir, 'commit', '-qm', 'start');
  return dir;
}

/** The catalog of the database in the folder, and a way to ask it. */
export async function openShop(dir: string) {
  const signal = new AbortController().signal;
  const warehouse = await openWarehouse(
    {
      connection: 'shop',
      config: { driver: 'duckdb', path: 'warehouse.duckdb' },
      projectDir: dir,
      cacheDir: join(dir, '.ktx/cache'),
      secrets: () => '',
    },
    signal,
  );
  const { tables } = await warehouse.introspect({}, signal);
  const catalog: Catalog = { connection: 'shop', dialect: 'duckdb', firstSchema: 'main', tables };
  const rows = async (sql: string) => {
    const result = await warehouse.query(sql, { maxRows: 10_000, timeoutMs: 20_000 }, signal);
    return result.rows;
  };
  return { catalog, rows, close: () => warehouse.close() };
}

/** What code reads in these texts, over these catalogs. */
export function readTexts(
  texts: Readonly<Record<string, string>>,
  catalogs: readonly Catalog[],
  config: Partial<LookmlConfig> = {},
) {
  const items = Object.entries(texts).map(([key, body]) => ({ key, path: key, body }));
  const context = {
    connection: 'looker',
    config: { driver: 'lookml', path: '.', ...config } as const,
    catalogs: new Map(catalogs.map((catalog) => [catalog.connection, catalog])),
  };
  return summary(lookml.extract(items, context));
}
