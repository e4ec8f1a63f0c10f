import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { IngestEvent } from '../../src/ingest/event.ts';
import type { IngestReport } from '../../src/ingest/report.ts';
import { runIngestPipeline } from '../../src/ingest/ingest.ts';
import type { IngestInput } from '../../src/ingest/ingest-run.ts';
import { newId } from '../../src/lib/id.ts';
import { scanConfigSchema } from '../../src/scan/config.ts';
import { openWarehouse } from '../../src/warehouse/open.ts';
import { run, write } from '../store/git-project.ts';

export interface ChildResult {
  readonly steps: readonly string[];
  readonly report: IngestReport;
  readonly killed: boolean;
}

const child = new URL('ingest-child.ts', import.meta.url).pathname;

let template: string | undefined;

/**
 * A project on a small SQLite database; in a repository of its own with a person's first commit.
 */
export function shopProject(): string {
  template ??= makeShopProject();
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'ktx-ingest-')));
  cpSync(template, dir, { recursive: true, preserveTimestamps: true });
  return dir;
}

let ingested: Promise<string> | undefined;

/** `shopProject` after its first ingest, which is made once for a process. */
export async function ingestedShop(): Promise<string> {
  ingested ??= (async () => {
    const dir = shopProject();
    await ingestHere(dir);
    return dir;
  })();
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'ktx-ingest-')));
  cpSync(await ingested, dir, { recursive: true, preserveTimestamps: true });
  return dir;
}

function makeShopProject(): string {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'ktx-ingest-')));
  sql(
    dir,
    `CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, region TEXT);
     CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER, amount REAL, status TEXT);
     CREATE TABLE coupons (code TEXT PRIMARY KEY, percent INTEGER);
     WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
       INSERT INTO customers SELECT i * 7, 'customer ' || i, CASE i % 3 WHEN 0 THEN 'north' ELSE 'south' END FROM n;
     WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
       INSERT INTO orders SELECT i, (1 + i * 13 % 60) * 7, i * 1.5, CASE i % 2 WHEN 0 THEN 'open' ELSE 'paid' END FROM n;
     INSERT INTO coupons VALUES ('SUMMER', 10), ('WINTER', 20);`,
  );
  write(dir, 'ktx.yaml', 'connections:\n  shop: {driver: sqlite, path: shop.sqlite}\n');
  write(dir, '.gitignore', 'shop.sqlite\n');
  run(dir, 'init', '-q', '-b', 'main');
  run(dir, 'config', 'user.name', 'Ada');
  run(dir, 'config', 'user.email', 'ada@example.org');
  run(dir, 'add', '.');
  run(dir, 'commit', '-qm', 'start');
  return dir;
}

export function sql(dir: string, statements: string): void {
  const db = new DatabaseSync(join(dir, 'shop.sqlite'));
  db.exec(statements);
  db.close();
}

/** An ingest in this process; each connection is the SQLite file of its name. */
export async function ingestHere(
  dir: string,
  options: Partial<IngestInput> & {
    names?: readonly string[];
    onEvent?: (event: IngestEvent) => void;
  } = {},
): Promise<IngestReport> {
  const { names = ['shop'], ...input } = options;
  const signal = AbortSignal.timeout(120_000);
  const open = new Set<{ close(): Promise<void> }>();
  try {
    return await runIngestPipeline({
      dir,
      runId: newId('run'),
      connections: names.map((name) => ({ name, scope: {} })),
      scan: scanConfigSchema.parse({}),
      longestServerWait: 1000,
      warehouse: async (connection) => {
        const config = { driver: 'sqlite', path: `${connection}.sqlite` } as const;
        const warehouse = await openWarehouse(
          {
            connection,
            config,
            projectDir: dir,
            cacheDir: join(dir, '.ktx/cache'),
            secrets: () => '',
          },
          signal,
        );
        open.add(warehouse);
        return warehouse;
      },
      signal,
      ...input,
    });
  } finally {
    for (const warehouse of open) await warehouse.close();
  }
}

/**
 * As `ingestHere`, in a process of its own, which kills itself at the publish step of that number,
 * counted from 1.
 */
export async function ingestIn(dir: string, dieAt?: number): Promise<ChildResult> {
  const args = [child, dir, ...(dieAt === undefined ? [] : [String(dieAt)])];
  return new Promise((done, fail) => {
    execFile(process.execPath, args, { maxBuffer: 1e8 }, (error, stdout, stderr) => {
      if (error?.signal === 'SIGKILL')
        return done({ steps: [], report: {} as IngestReport, killed: true });
      if (error !== null) return fail(new Error(`${error.message}\n${stderr}`));
      const result = JSON.parse(stdout) as ChildResult & { error?: unknown };
      if (result.error !== undefined) return fail(new Error(JSON.stringify(result.error)));
      return done({ ...result, killed: false });
    });
  });
}

export function copyOf(dir: string): string {
  const copy = realpathSync(mkdtempSync(join(tmpdir(), 'ktx-ingest-')));
  cpSync(dir, copy, { recursive: true });
  return copy;
}

/** Everything that a person could see of a project: files, HEAD's tree, index, status. */
export function stateOf(dir: string): Record<string, unknown> {
  const files = readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .filter(
      (path) =>
        !/^\.(git|ktx)(\/|$)/.test(path) &&
        path !== 'shop.sqlite' &&
        statSync(join(dir, path)).isFile(),
    )
    .sort()
    .map((path) => [path, readFileSync(join(dir, path), 'utf8')]);
  return {
    files: Object.fromEntries(files) as unknown,
    head: run(dir, 'ls-tree', '-r', 'HEAD'),
    index: run(dir, 'ls-files', '-s'),
    status: run(dir, 'status', '--porcelain'),
  };
}
