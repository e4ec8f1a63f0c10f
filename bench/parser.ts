import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadCatalog } from '../src/context/catalog/catalog-files.ts';
import { ingestProject } from '../src/project/learn/ingest.ts';
import { openProject } from '../src/project/open/open.ts';
import { extractInThread } from '../src/sources/parser.ts';
import { openSource } from '../src/sources/registry.ts';
import type { Item } from '../src/sources/source.ts';
import { loopTools } from '../src/tools/loop-tools.ts';

/**
 * `npm run bench:parser` ingests a dbt project of 2,000 models and compares what code reads in it
 * in the parser's thread with the same work in the main thread. Prints how much longer the whole
 * ingest takes because of the thread.
 */
const models = Number(process.argv[2] ?? 2000);
const { signal } = new AbortController();
const dir = mkdtempSync(join(tmpdir(), 'ktx-parser-bench-'));
try {
  prepare();
  const ingests = [await timed(ingest), await timed(ingest), await timed(ingest)].slice(1);
  const source = await openSource({ driver: 'dbt', path: 'dbt' });
  const items = await fetchItems();
  const catalog = await loadCatalog(dir, 'shop');
  const catalogs = new Map(catalog === undefined ? [] : [['shop', catalog]]);
  const context = { connection: 'models', catalogs };
  const inMain: number[] = [];
  const inThread: number[] = [];
  for (let round = 0; round < 7; round += 1) {
    inMain.push(await timed(async () => Promise.resolve(source.extract(items, context))));
    inThread.push(await timed(() => extractInThread(source, items, { context, signal })));
  }
  const [first = 0] = inThread;
  const [main, thread, whole] = [median(inMain), median(inThread), median(ingests)];
  tell('extract in the main thread', main);
  tell('extract in the thread, the first time', first);
  tell('extract in the thread', thread);
  tell('whole ingest, unchanged', whole);
  process.stdout.write(`thread to main: ${(thread / main).toFixed(2)}\n`);
  process.stdout.write(
    `whole ingest with to without: ${(whole / (whole - thread + main)).toFixed(3)}\n`,
  );
} finally {
  rmSync(dir, { recursive: true });
}

function prepare(): void {
  const db = new DatabaseSync(join(dir, 'shop.sqlite'));
  for (let model = 0; model < models; model += 1)
    db.exec(`CREATE TABLE model_${model} (id INTEGER PRIMARY KEY, amount INTEGER, status TEXT)`);
  db.close();
  mkdirSync(join(dir, 'dbt/models'), { recursive: true });
  writeFileSync(join(dir, 'dbt/dbt_project.yml'), 'name: shop\nmodel-paths: [models]\n');
  for (let model = 0; model < models; model += 1) {
    writeFileSync(
      join(dir, `dbt/models/model_${model}.sql`),
      `select id, amount, status from {{ ref('model_${Math.max(0, model - 1)}') }} where amount > 0\n`,
    );
    writeFileSync(
      join(dir, `dbt/models/model_${model}.yml`),
      `models:\n  - name: model_${model}\n    description: The rows of model ${model}, one per order.\n    columns:\n      - {name: id, description: Its key., data_tests: [unique, not_null]}\n      - {name: amount, description: In cents.}\n`,
    );
  }
  const connections =
    'shop: {driver: sqlite, path: shop.sqlite}\n  models: {driver: dbt, path: dbt}';
  writeFileSync(join(dir, 'ktx.yaml'), `connections:\n  ${connections}\n`);
}

async function fetchItems(): Promise<readonly Item[]> {
  const source = await openSource({ driver: 'dbt', path: 'dbt' });
  const cacheDir = join(dir, '.ktx/cache');
  const context = {
    connection: 'models',
    projectDir: dir,
    cacheDir,
    secrets: () => '',
    memory: { keys: new Set<string>(), has: () => false, isKnown: () => false },
    longestWait: 1000,
    onWait: () => undefined,
    signal,
  };
  const items: Item[] = [];
  for await (const event of source.fetch(context)) if (event.kind === 'item') items.push(event);
  return items;
}

async function ingest(): Promise<void> {
  const project = await openProject(dir);
  const report = await ingestProject(project, {
    connections: [],
    signal,
    tools: loopTools(project),
  });
  await project.close();
  if (report.sources.every(({ items }) => items === undefined))
    throw new Error('the dbt project was not read');
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function median(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
}

function tell(what: string, ms: number): void {
  process.stdout.write(`${what.padEnd(40)} ${Math.round(ms)} ms\n`);
}
