// Installs the engine of `npm run test:clickhouse`, where it is missing. It is half a gigabyte, so
// `npm ci` leaves it out.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

const version = '3.4.0';
const present = 'node_modules/chdb/package.json';
if (!existsSync(present) || JSON.parse(readFileSync(present, 'utf8')).version !== version) {
  console.error('Installing ClickHouse (chdb, once, 540 MB)…');
  const { status } = spawnSync(
    'npm',
    [
      'install',
      '--no-save',
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
      '--loglevel=error',
      `chdb@${version}`,
    ],
    { stdio: ['ignore', 2, 2], shell: process.platform === 'win32' },
  );
  if (status !== 0) {
    console.error('chdb could not be installed; npm says why above. The tests are skipped.');
  }
}
