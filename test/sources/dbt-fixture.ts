import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import type { Catalog } from '../../src/context/catalog/catalog.ts';
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
export async function bakeryCatalog(): Promise<Catalog> {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'ktx-dbt-')));
  await duckdbFile(dir, readFileSync(join(bakery, 'warehouse.sql'), 'utf8'));
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
    const { tables } = await warehouse.introspect({ schemas: ['main', 'raw'] }, signal);
    return { connection: 'shop', dialect: 'duckdb', firstSchema: 'main', tables };
  } finally {
    await warehouse.close();
    rmSync(dir, { recursive: true, force: true });
  }
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
    memory: { keys: new Set<string>(), isKnown: () => false },
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
    claims,
  };
}
