import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { drawHistory } from '../test/ingest/branches/history.ts';
import { tryHistory } from '../test/ingest/branches/play-history.ts';

// Plays random histories of branches without a test runner, whose large process is slow to start
// git: `node scripts/branch-histories.ts SEED COUNT`. Prints the steps of each that fails.

const [first = 1, count = 25] = process.argv.slice(2).map(Number);
const folder = mkdtempSync(join(tmpdir(), 'ktx-histories-'));
process.env['XDG_CONFIG_HOME'] = join(folder, 'config');
process.env['XDG_STATE_HOME'] = join(folder, 'state');
process.env['TMPDIR'] = folder;

let failures = 0;
for (let seed = first; seed < first + count; seed += 1) {
  const history = drawHistory(seed);
  try {
    await tryHistory(history);
    process.stdout.write(`seed ${seed}: passed\n`);
  } catch (error) {
    failures += 1;
    process.stdout.write(`seed ${seed}: FAILED\nKTX_HISTORY='${JSON.stringify(history)}'\n`);
    process.stdout.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  }
}
rmSync(folder, { recursive: true, force: true });
process.stdout.write(`${count - failures} of ${count} histories passed\n`);
process.exitCode = failures === 0 ? 0 : 1;
