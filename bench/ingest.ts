import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { changeDocument, changeModel, writeDbtShop } from './ingest/dbt-shop.ts';
import { measureProcess, type ProcessCost } from './ingest/measure-process.ts';

/**
 * `npm run bench:ingest [-- <models> …]` measures what ingests of dbt projects cost, by default of
 * 250, 1,000 and 4,000 models: the first one, two of unchanged input, one after a model has changed
 * and one after a document has. CPU time has that of all child processes, without the start, which
 * is `ktx --version`. The ratio is to a Node that parses the YAML files of the project once, right
 * before: it stays when the machine is slower or busier. Runs the built package.
 */
const root = fileURLToPath(new URL('..', import.meta.url));
const ktx = join(root, 'bin/ktx.js');
const yardstick = join(root, 'bench/ingest/parse-yaml.ts');
const sizes = process.argv.slice(2).map(Number);

execFileSync(process.execPath, ['scripts/build.mjs'], { cwd: root, stdio: 'inherit' });
const start = (await measureProcess(root, [ktx, '--version'])).cpuSeconds;
console.log(`start: ${start.toFixed(2)} CPU s`);
// Deleted at the end: where thousands of files were just deleted, ext4 takes many times as long to
// make new ones.
const folder = mkdtempSync(join(tmpdir(), 'ktx-ingest-bench-'));
try {
  for (const models of sizes.length > 0 ? sizes : [250, 1000, 4000])
    await measureProject(join(folder, String(models)), models);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function measureProject(dir: string, models: number): Promise<void> {
  writeDbtShop(dir, models);
  await measureIngest(dir, models, 'first');
  await measureIngest(dir, models, 'unchanged');
  await measureIngest(dir, models, 'unchanged');
  changeModel(dir, 42);
  await measureIngest(dir, models, 'model changed');
  changeDocument(dir, 1);
  await measureIngest(dir, models, 'document changed');
}

async function measureIngest(dir: string, models: number, what: string): Promise<void> {
  const unit = await measureProcess(dir, [yardstick, join(dir, 'dbt')]);
  tell({ models, what, unit, cost: await measureProcess(dir, [ktx, 'ingest', '--quiet']) });
}

interface Measured {
  readonly models: number;
  readonly what: string;
  readonly unit: ProcessCost;
  readonly cost: ProcessCost;
}

function tell({ models, what, unit, cost }: Measured): void {
  const beyond = cost.cpuSeconds - start;
  const parts = [
    `${String(models).padStart(5)} models  ${what.padEnd(16)}`,
    `${beyond.toFixed(2).padStart(6)} CPU s beyond the start,`,
    `${(beyond / unit.cpuSeconds).toFixed(1).padStart(5)} times parsing the YAML,`,
    `${cost.peakMegabytes.toFixed(0).padStart(5)} MB`,
  ];
  console.log(parts.join(' '));
}
