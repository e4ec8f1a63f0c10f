import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { openProject } from '../src/project/open/open.ts';
import { emit } from '../src/semantic/emit/emit.ts';
import { loadModel } from '../src/semantic/load/load.ts';
import type { SemanticModel } from '../src/semantic/model/model.ts';
import { createPlan } from '../src/semantic/plan/plan.ts';
import { querySchema, type SemanticQuery } from '../src/semantic/query/query.ts';
import { loadAnalyzer } from '../src/sql/analyzer.ts';
import { duckdb } from '../src/sql/dialects/duckdb.ts';
import { openToolbox } from '../src/tools/toolbox.ts';

/**
 * Times the compilation of two-fact queries over many datasets, the errors about wrong names, and
 * the loading of their files. The datasets form chains of ten. Then does the same from a project on
 * disk, and times `query_metrics` without the warehouse's part.
 */
const sizes = [10, 1_000, 10_000];
const [warm, measured] = [200, 2_000];

interface File {
  readonly path: string;
  readonly text: string;
}

function fileOf(index: number, factor = '0.8'): File {
  const parents = index % 10 === 0 ? [] : [index - 1];
  const text = `dataset: d${index}
source: main.d${index}
primary_key: [id]
default_time: at
fields:
  - {name: id, type: integer}
  - {name: parent_id, type: integer}
  - {name: amount, type: decimal}
  - {name: status, type: string}
  - {name: at, type: datetime}
  - {name: net, expr: amount * ${factor}, type: decimal}
metrics:
  - {name: total, agg: sum, of: amount, where: status = 'paid'}
  - {name: rows, agg: count}
  - {name: average, ratio: {numerator: total, denominator: rows}}
relationships: [${parents.map((parent) => `{to: d${parent}, on: {parent_id: id}}`).join(', ')}]
`;
  return { path: `semantic-layer/warehouse/d${index}.yaml`, text };
}

function queryOf(turn: number, size: number) {
  const root = Math.floor((turn * 7) % (size / 10)) * 10;
  return querySchema.parse({
    metrics: [
      `d${root + 4}.average`,
      `d${root + 7}.total`,
      { name: 'each', expr: `d${root + 4}.total / d${root + 7}.rows` },
    ],
    dimensions: [`d${root + 1}.status`, 'metric_time.month'],
    where: [`d${root}.amount > ${turn}`, `d${root + 2}.status in ('a', 'b')`],
    order_by: [{ field: 'each', dir: 'desc' }],
    limit: 100,
  });
}

function quantile(sorted: readonly number[], share: number): string {
  return `${(sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(3)} ms`;
}

async function measure(size: number): Promise<string> {
  const files = Array.from({ length: size }, (_, index) => fileOf(index));
  const columns = ['id', 'parent_id', 'amount', 'status', 'at'].map((name) => ({ name }));
  const tables = files.map((_, index) => ({ schema: 'main', table: `d${index}`, columns }));
  const started = performance.now();
  const { model, diagnostics } = await loadModel({ dialect: duckdb, files, tables });
  const cold = performance.now() - started;
  if (diagnostics.length > 0) throw new Error(diagnostics[0]?.message);
  const edits = await inTurns(40, async (turn) => {
    const index = (turn * 7) % size;
    const edited = files.with(index, fileOf(index, `0.${turn + 10}`));
    return () => loadModel({ dialect: duckdb, files: edited, tables });
  });
  const times: number[] = [];
  for (let turn = 0; turn < warm + measured; turn += 1) {
    const query = queryOf(turn, size);
    const start = performance.now();
    emit(createPlan(model, query), duckdb);
    if (turn >= warm) times.push(performance.now() - start);
  }
  const sorted = times.toSorted((a, b) => a - b);
  const failing = await inTurns(40, async (turn) => {
    const query = { ...queryOf(turn, size), metrics: [`d${turn % size}.totall`] };
    return async () => failToPlan(model, query);
  });
  const load = `load ${cold.toFixed(0)} ms, again after one edit ${quantile(edits, 0.5)}`;
  return `${size} datasets: compile p50 ${quantile(sorted, 0.5)}, p95 ${quantile(sorted, 0.95)}; failing name p50 ${quantile(failing, 0.5)}; ${load}\n`;
}

function failToPlan(model: SemanticModel, query: SemanticQuery): void {
  try {
    createPlan(model, query);
  } catch {
    return;
  }
  throw new Error('a query with a wrong name was planned');
}

/** The sorted times of the turns, without their preparation. */
async function inTurns(
  turns: number,
  prepare: (turn: number) => Promise<() => Promise<unknown>>,
): Promise<readonly number[]> {
  const times: number[] = [];
  for (let turn = 0; turn < turns; turn += 1) {
    const run = await prepare(turn);
    const start = performance.now();
    await run();
    times.push(performance.now() - start);
  }
  return times.toSorted((a, b) => a - b);
}

async function measureProject(size: number): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'ktx-bench-semantic-'));
  const write = ({ path, text }: File) => writeFileSync(join(dir, path), text);
  mkdirSync(join(dir, 'semantic-layer/warehouse'), { recursive: true });
  write({
    path: 'ktx.yaml',
    text: 'connections:\n  warehouse: {driver: duckdb, path: w.duckdb}\n',
  });
  for (let index = 0; index < size; index += 1) write(fileOf(index));
  await makeTables(join(dir, 'w.duckdb'));
  for (const args of [
    ['init', '-q'],
    ['add', '-A'],
    ['-c', 'user.name=b', '-c', 'user.email=b', 'commit', '-qm', 'b'],
  ])
    execFileSync('git', args, { cwd: dir });
  const project = await openProject(dir);
  try {
    const started = performance.now();
    await project.model('warehouse');
    const cold = performance.now() - started;
    const edits = await inTurns(20, async (turn) => {
      write(fileOf(turn * 7, `0.${turn + 10}`));
      return () => project.model('warehouse');
    });
    const tool = openToolbox(project)
      .tools(new AbortController().signal)
      .find(({ name }) => name === 'query_metrics');
    const [own, beside]: [number[], number[]] = [[], []];
    for (let turn = 0; turn < 300; turn += 1) {
      const start = performance.now();
      const answer = await tool?.execute({
        metrics: ['d4.average', 'd7.total'],
        dimensions: ['d1.status', 'metric_time.month'],
        limit: 100 + turn,
      });
      const ms = Number(/ in (\d+) ms/.exec(answer?.markdown ?? '')?.[1]);
      own.push(ms);
      beside.push(performance.now() - start - ms);
    }
    const [warehouse = 0, added = 0] = [own, beside].map(
      (times) => times.slice(100).toSorted((a, b) => a - b)[100],
    );
    const query = `query_metrics adds ${added.toFixed(1)} ms to the warehouse's ${warehouse} ms (ratio ${((warehouse + added) / warehouse).toFixed(2)})`;
    return `${size} files on disk: load ${cold.toFixed(0)} ms, after one edit ${quantile(edits, 0.5)}; ${query}\n`;
  } finally {
    await project.close();
    rmSync(dir, { recursive: true });
  }
}

async function makeTables(path: string): Promise<void> {
  const instance = await DuckDBInstance.create(path);
  const connection = await instance.connect();
  for (let index = 0; index < 10; index += 1) {
    await connection.run(
      `CREATE TABLE d${index} AS SELECT i AS id, i AS parent_id, i * 1.5 AS amount, 'paid' AS status, TIMESTAMP '2024-01-01' + to_days(CAST(i % 300 AS INT)) AS at FROM range(2000) t(i)`,
    );
  }
  connection.closeSync();
  instance.closeSync();
}

await loadAnalyzer();
for (const size of sizes) process.stdout.write(await measure(size));
if (!process.argv.includes('--compile'))
  for (const size of [10, 1_000]) process.stdout.write(await measureProject(size));
