// Installs the locked dependencies when they are missing or older than the lockfile.
// Runs on whatever Node started npm; the scripts after it run on the Node of node_modules/.bin.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

const installed = 'node_modules/.package-lock.json';
if (existsSync(installed) && sameVersions()) process.exit(0);
console.error('Installing dependencies (once, about half a minute)…');
execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
  stdio: ['ignore', 2, 2],
  shell: process.platform === 'win32',
});

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
