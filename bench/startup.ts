// Measures how much longer `ktx --version` and the completion of a name take than starting Node.
// Starts them in turns and prints medians, for the built package and the demo project.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const rounds = 31;

execFileSync(process.execPath, ['scripts/build.mjs'], { cwd: root, stdio: 'inherit' });

const demo = mkdtempSync(join(tmpdir(), 'ktx-startup-'));
milliseconds(['bin/ktx.js', 'demo', '--dir', demo, '--quiet']);

const ktx: number[] = [];
const completing: number[] = [];
const bare: number[] = [];
for (let round = 0; round < rounds; round += 1) {
  bare.push(milliseconds(['-e', '0']));
  ktx.push(milliseconds(['bin/ktx.js', '--version']));
  completing.push(
    milliseconds([
      'bin/ktx.js',
      'completion',
      '--line',
      `ktx --project-dir ${demo} sl query -m orders.`,
    ]),
  );
}
rmSync(demo, { recursive: true, force: true });

const [ktxMedian, bareMedian] = [median(ktx), median(bare)];
console.log(`ktx --version   ${ktxMedian.toFixed(1)} ms  (median of ${rounds})`);
console.log(`completion      ${median(completing).toFixed(1)} ms`);
console.log(`node -e 0       ${bareMedian.toFixed(1)} ms`);
console.log(`difference      ${(ktxMedian - bareMedian).toFixed(1)} ms`);
console.log(`ratio           ${(ktxMedian / bareMedian).toFixed(2)}`);

function milliseconds(args: readonly string[]): number {
  const started = performance.now();
  execFileSync(process.execPath, args, { cwd: root, stdio: 'ignore' });
  return performance.now() - started;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
