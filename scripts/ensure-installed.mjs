// Installs the locked dependencies where they are missing or of another version than the
// lockfile's. Runs on whatever Node started npm; the scripts after it run on the Node in
// node_modules/.bin.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

const installed = 'node_modules/.package-lock.json';
if (!existsSync(installed) || !sameVersions()) {
  console.error('Installing the dependencies (once, about a minute)…');
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  });
  if (status !== 0) {
    console.error(
      'The dependencies could not be installed; npm says why above. Is the npm registry reachable?',
    );
    process.exit(1);
  }
}

function sameVersions() {
  const locked = packages('package-lock.json');
  const present = packages(installed);
  return Object.entries(locked).every(
    ([path, entry]) => path === '' || entry.optional || present[path]?.version === entry.version,
  );
}

function packages(file) {
  return JSON.parse(readFileSync(file, 'utf8')).packages ?? {};
}
