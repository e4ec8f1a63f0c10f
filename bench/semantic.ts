import { emit } from '../src/semantic/emit.ts';
import { loadModel } from '../src/semantic/load.ts';
import { plan } from '../src/semantic/plan.ts';
import { querySchema } from '../src/semantic/query.ts';
import { loadAnalyzer } from '../src/sql/analyzer.ts';
import { duckdb } from '../src/sql/dialects/duckdb.ts';

/** Compiling two-fact queries over many datasets, and loading their files: in chains of ten, each pointing at the one before. */
const sizes = [1_000, 5_000];
const [warm, measured] = [200, 2_000];

interface File {
  readonly path: string;
  readonly text: string;
}

function fileOf(index: number): File {
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
  - {name: net, expr: amount * 0.8, type: decimal}
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
    metrics: [`d${root + 4}.average`, `d${root + 7}.total`, { name: 'each', expr: `d${root + 4}.total / d${root + 7}.rows` }],
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
  const started = performance.now();
  const { model, diagnostics } = await loadModel({ dialect: duckdb, files });
  const cold = performance.now() - started;
  if (diagnostics.length > 0) throw new Error(diagnostics[0]?.message);
  const edited = files.with(5, { ...fileOf(5), text: fileOf(5).text.replace('amount * 0.8', 'amount * 0.7') });
  const again = performance.now();
  await loadModel({ dialect: duckdb, files: edited });
  const incremental = performance.now() - again;
  const times: number[] = [];
  for (let turn = 0; turn < warm + measured; turn += 1) {
    const query = queryOf(turn, size);
    const start = performance.now();
    emit(plan(model, query), duckdb);
    if (turn >= warm) times.push(performance.now() - start);
  }
  const sorted = times.toSorted((a, b) => a - b);
  const load = `load ${cold.toFixed(0)} ms, again after one edit ${incremental.toFixed(0)} ms`;
  return `${size} datasets: compile p50 ${quantile(sorted, 0.5)}, p95 ${quantile(sorted, 0.95)}; ${load}\n`;
}

await loadAnalyzer();
for (const size of sizes) process.stdout.write(await measure(size));
