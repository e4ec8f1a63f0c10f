// How much `ktx --version` costs beyond Node itself: both started in turns in one run, medians, on the built package.
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const rounds = 31;

execFileSync(process.execPath, ['scripts/build.mjs'], { cwd: root, stdio: 'inherit' });

const ktx: number[] = [];
const bare: number[] = [];
for (let round = 0; round < rounds; round += 1) {
  bare.push(milliseconds(['-e', '0']));
  ktx.push(milliseconds(['bin/ktx.js', '--version']));
}

const [ktxMedian, bareMedian] = [median(ktx), median(bare)];
console.log(`ktx --version   ${ktxMedian.toFixed(1)} ms  (median of ${rounds})`);
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
