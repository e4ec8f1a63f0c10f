import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { changeModel, writeDbtShop } from './ingest/dbt-shop.ts';

/**
 * `npm run bench:ingest [-- <models> …]` measures the CPU time, with that of child processes, of
 * ingests of dbt projects, by default of 250, 1,000 and 4,000 models: the first one, one of
 * unchanged input, and one after a model has changed. The ratio is to the start of the process,
 * which is `ktx --version`. Runs the built package.
 */
const root = fileURLToPath(new URL('..', import.meta.url));
const ktx = join(root, 'bin/ktx.js');
const sizes = process.argv.slice(2).map(Number);

execFileSync(process.execPath, ['scripts/build.mjs'], { cwd: root, stdio: 'inherit' });
const start = cpuSeconds(root, ['--version']);
console.log(`process start        ${start.toFixed(2)} CPU s`);
for (const models of sizes.length > 0 ? sizes : [250, 1000, 4000]) {
  const dir = mkdtempSync(join(tmpdir(), 'ktx-ingest-bench-'));
  try {
    writeDbtShop(dir, models);
    tell(models, 'first', ingest(dir));
    tell(models, 'unchanged', ingest(dir));
    tell(models, 'unchanged', ingest(dir));
    changeModel(dir, 42);
    tell(models, 'one changed', ingest(dir));
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function ingest(dir: string): number {
  return cpuSeconds(dir, ['ingest', '--quiet']);
}

function tell(models: number, what: string, seconds: number): void {
  const beyond = `${(seconds - start).toFixed(2)} beyond the start`;
  const ratio = `ratio ${(seconds / start).toFixed(1)}`;
  console.log(
    `${String(models).padStart(5)} models  ${what.padEnd(12)} ${seconds.toFixed(2).padStart(6)} CPU s, ${beyond}, ${ratio}`,
  );
}

/** User and system time of ktx and all processes that it waited for. */
function cpuSeconds(cwd: string, args: readonly string[]): number {
  const script = '"$@"; code=$?; times; exit $code';
  const command = ['-c', script, 'sh', process.execPath, ktx, ...args];
  const { status, stdout, stderr } = spawnSync('sh', command, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`ktx ${args.join(' ')} ended with ${status}: ${stderr}`);
  const [, user = '', system = ''] = /(\S+) (\S+)\s*$/.exec(stdout) ?? [];
  return parseTime(user) + parseTime(system);
}

/** `1m2.34s` in seconds. */
function parseTime(text: string): number {
  const [, minutes = 'NaN', seconds = 'NaN'] = /^(\d+)m([\d.]+)s$/.exec(text) ?? [];
  return Number(minutes) * 60 + Number(seconds);
}
