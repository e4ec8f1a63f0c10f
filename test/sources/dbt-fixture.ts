import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import type { Catalog } from '../../src/context/catalog/catalog.ts';
import type { DbtConfig } from '../../src/sources/dbt/config.ts';
import { dbt } from '../../src/sources/dbt/source.ts';
import type { Extraction, FetchEvent, Item, Source } from '../../src/sources/source.ts';
import { openWarehouse } from '../../src/warehouse/open.ts';

export const bakery = new URL('../fixtures/dbt-bakery', import.meta.url).pathname;

/** A DuckDB file with what the statements make. */
export async function duckdbFile(folder: string, statements: string): Promise<string> {
  const file = join(folder, 'warehouse.duckdb');
  const instance = await DuckDBInstance.create(file);
  const connection = await instance.connect();
  await connection.run(statements);
  connection.closeSync();
  instance.closeSync();
  return file;
}

/** The catalog of the warehouse that the bakery's project builds. */
export function bakeryCatalog(): Promise<Catalog> {
  return duckdbCatalog(readFileSync(join(bakery, 'warehouse.sql'), 'utf8'));
}

/** The catalog of a warehouse `shop` with what the statements make in the schemas. */
export async function duckdbCatalog(
  statements: string,
  schemas: readonly [string, ...string[]] = ['main', 'raw'],
): Promise<Catalog> {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'ktx-dbt-')));
  await duckdbFile(dir, statements);
  const signal = AbortSignal.timeout(30_000);
  const config = { driver: 'duckdb', path: 'warehouse.duckdb' } as const;
  const warehouse = await openWarehouse(
    {
      connection: 'shop',
      config,
      projectDir: dir,
      cacheDir: join(dir, 'cache'),
      secrets: () => '',
    },
    signal,
  );
  try {
    const { tables } = await warehouse.introspect({ schemas: [...schemas] }, signal);
    return { connection: 'shop', dialect: 'duckdb', firstSchema: schemas[0], tables };
  } finally {
    await warehouse.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Writes files below the folder, by their paths. */
export function writeFiles(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

/** What the source reads in the dbt project in `dir`, beside the catalog of a warehouse `shop`. */
export async function readDbtProject(dir: string, catalog: Catalog, more: Partial<DbtConfig> = {}) {
  const config: DbtConfig = { driver: 'dbt', path: '.', ...more };
  const { items, failed } = await fetchAll(dbt, config, dir);
  const catalogs = new Map([[catalog.connection, catalog]]);
  const extractions = dbt.extract(items, { connection: 'dbt', config, catalogs });
  const leftOut = extractions.flatMap(({ key, leftOut: statements = [] }) =>
    statements.map(({ what, location }) => `${key} ${location}: ${what}`),
  );
  return { ...summary(extractions), items, failed, extractions, leftOut };
}

export interface Read {
  readonly items: readonly Item[];
  readonly failed: readonly FetchEvent[];
  readonly isComplete: boolean;
}

export async function fetchAll<Config>(
  source: Source<Config>,
  config: Config,
  projectDir: string,
): Promise<Read> {
  const signal = AbortSignal.timeout(30_000);
  const fetched: FetchEvent[] = [];
  const context = {
    connection: 'dbt',
    config,
    projectDir,
    cacheDir: '',
    secrets: () => '',
    memory: { keys: new Set<string>(), has: () => false, isKnown: () => false },
    longestWait: 1000,
    onWait: () => undefined,
    signal,
  };
  for await (const one of source.fetch(context)) fetched.push(one);
  return {
    items: fetched.flatMap((one) =>
      one.kind === 'item' ? [{ key: one.key, path: one.path, body: one.body }] : [],
    ),
    failed: fetched.filter(({ kind }) => kind === 'failed'),
    isComplete: fetched.some((one) => one.kind === 'end' && one.listingComplete),
  };
}

/** Claims as `subject kind` to their body, without their evidence; problems with their places. */
export function summary(extractions: readonly Extraction[]) {
  const claims = extractions.flatMap((one) => one.claims);
  return {
    said: (subject: string, kind: string) =>
      claims
        .filter((claim) => claim.subject === subject && claim.kind === kind)
        .map(({ body }) => body),
    problems: extractions.flatMap(({ key, problems = [] }) =>
      problems.map(({ location, reason }) => `${key} ${location}: ${reason}`),
    ),
    leftOut: extractions.flatMap(({ leftOut = [] }) =>
      leftOut.map(({ what, name }) => (name === undefined ? what : `${what}: ${name}`)),
    ),
    claims,
  };
}
