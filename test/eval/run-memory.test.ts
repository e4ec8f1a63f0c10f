import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const run = promisify(execFile);
const module = new URL('../../src/lib/collect-early.ts', import.meta.url).pathname;

/** Of a process that holds 40 MB and makes garbage that outlives the collection of new objects. */
async function mostMegabytes(before: string): Promise<number> {
  const script = `${before}
const made = (size) => Array.from({ length: size }, (_, index) => ({ index }));
const held = made(1_000_000);
const recent = [];
for (let step = 0; step < 3_000; step += 1) recent[step % 300] = made(5_000);
console.log(process.resourceUsage().maxRSS / 1024, held.length);`;
  const argv = ['--input-type=module', '--disable-warning=ExperimentalWarning', '-e', script];
  const { stdout } = await run(process.execPath, argv);
  return Number.parseFloat(stdout);
}

test('garbage does not pile up in a long run', async () => {
  const [usual, early] = await Promise.all([
    mostMegabytes(''),
    mostMegabytes(`import { collectEarly } from ${JSON.stringify(module)};\ncollectEarly(50);`),
  ]);
  expect(usual).toBeGreaterThan(1);
  expect(early / usual).toBeLessThan(0.75);
});
