// Runs the suites of `test/slow-suites.ts` in parts, and starts no part that would end too late.
//
//   node scripts/run-slow-suites.ts --reports=DIR --until=SECONDS
//
// Through `npm run` or `npx -c`, which have `vitest` on the path. (`npx` inside of `npx -c` fails.)
// SECONDS is a time since 1970. Each day starts with another part, so that a slow machine runs
// all of them within a few days. The end names what was left out.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { slowParts } from '../test/slow-suites.ts';

const { values: flags } = parseArgs({
  options: { reports: { type: 'string', default: '.' }, until: { type: 'string' } },
});
const until = Number(flags.until ?? Infinity) * 1000;
const left = [...slowParts(Math.floor(Date.now() / 86_400_000))];
const partCount = left.length;

let status = 0;
let longest = 0;
for (let number = 1; Date.now() + longest <= until && status === 0; number += 1) {
  const part = left.shift();
  if (part === undefined) break;
  const start = Date.now();
  const report = join(flags.reports, `slow-${number}.json`);
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  console.log(`Slow suites, part ${number} of ${partCount}`);
  const run = spawnSync('vitest', ['run', '--retry=1', ...reporters, ...part], {
    stdio: 'inherit',
    env: { ...process.env, KTX_SUITES: 'slow' },
  });
  if (run.error) console.error(`Vitest could not be started: ${run.error.message}`);
  status = run.status ?? 1;
  longest = Math.max(longest, Date.now() - start);
}
if (left.length > 0)
  console.log(`Slow suites that were not run:\n${left.flat().sort().join('\n')}`);
process.exit(status);
