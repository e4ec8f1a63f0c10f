// Installs the locked dependencies where they are missing or of another version than the
// lockfile's. Runs on whatever Node started npm; the scripts after it run on the Node in
// node_modules/.bin.
//
//   node scripts/ensure-installed.mjs            what tests and builds need
//   node scripts/ensure-installed.mjs --to-run   only what ktx itself needs
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const installed = 'node_modules/.package-lock.json';
const options = ['--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error'];
// A link to the program is no command on Windows.
const runOnly = process.argv.includes('--to-run') && process.platform !== 'win32';
const locked = Object.entries(packages('package-lock.json')).filter(
  ([path, entry]) => path !== '' && !(runOnly && (entry.dev || entry.devOptional)),
);

if (!sameVersions()) {
  // `npm ci` begins by deleting what is there, perhaps under a ktx that runs: it would leave
  // nothing behind if the registry cannot be reached. So what is missing is only added.
  const isPart = existsSync(installed) && presentAsLocked();
  const omitted = runOnly ? ['--omit=dev'] : [];
  await install({
    what: 'Installing the dependencies, once',
    args: [...(isPart ? ['install', '--no-save'] : ['ci']), ...options, ...omitted],
    paths: pathsOf(locked),
  });
}
if (runOnly && isOldNode() && !existsSync('node_modules/.bin/node')) await installNode();

function sameVersions() {
  if (!existsSync(installed)) return false;
  const present = packages(installed);
  return locked.every(
    ([path, entry]) => entry.optional || present[path]?.version === entry.version,
  );
}

/** True if no package is there that the lockfile does not have in this version. */
function presentAsLocked() {
  const all = packages('package-lock.json');
  return Object.entries(packages(installed)).every(
    ([path, { version }]) => all[path]?.version === version,
  );
}

function isOldNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  return major < 24 || (major === 24 && minor < 10);
}

/** The Node of the lockfile, in a folder of its own: with `--omit=dev`, npm leaves it out. */
async function installNode() {
  const folder = 'node_modules/.node';
  const entries = Object.entries(packages('package-lock.json'))
    .filter(([path]) => /^node_modules\/node(-bin-setup)?$/.test(path))
    .map(([path, { dev: _dev, ...entry }]) => [path, entry]);
  const dependencies = { node: packages('package-lock.json')['node_modules/node'].version };
  const about = { name: 'node-for-ktx', version: '1.0.0' };
  mkdirSync(folder, { recursive: true });
  writeJson(join(folder, 'package.json'), { ...about, dependencies });
  writeJson(join(folder, 'package-lock.json'), {
    ...about,
    lockfileVersion: 3,
    packages: { '': { ...about, dependencies }, ...Object.fromEntries(entries) },
  });
  await install({
    what: `Installing Node.js ${dependencies.node} for it (this is ${process.versions.node})`,
    args: ['ci', ...options, '--prefix', folder],
    paths: ['node_modules/node/bin/node'].map((path) => join(folder, path)),
  });
  mkdirSync('node_modules/.bin', { recursive: true });
  rmSync('node_modules/.bin/node', { force: true });
  symlinkSync('../.node/node_modules/node/bin/node', 'node_modules/.bin/node');
}

/** Runs npm, and says how far it is: of `paths`, those that exist are done. */
async function install({ what, args, paths }) {
  const start = Date.now();
  const isTerminal = process.stderr.isTTY;
  if (!isTerminal) console.error(`${what}…`);
  const timer = isTerminal ? setInterval(() => showProgress(what, start, paths), 250) : undefined;
  const isWindows = process.platform === 'win32';
  const npm = spawn('npm', args, { stdio: ['ignore', 'ignore', 2], shell: isWindows });
  const status = await new Promise((resolve) => {
    npm.on('error', () => resolve(1));
    npm.on('close', resolve);
  });
  clearInterval(timer);
  if (isTerminal) process.stderr.write('\r\u001b[K');
  if (status === 0) {
    console.error(`${what}: ${Math.round((Date.now() - start) / 1000)} s`);
    return;
  }
  console.error(
    'The dependencies could not be installed; npm says why above. Is the npm registry reachable?',
  );
  process.exit(1);
}

function showProgress(what, start, paths) {
  const done = paths.filter((path) => existsSync(path)).length;
  const seconds = (Date.now() - start) / 1000;
  const left = Math.ceil((seconds * paths.length) / Math.max(done, 1) - seconds);
  const isKnown = done > paths.length / 8;
  const rest = !isKnown
    ? `${Math.floor(seconds)} s`
    : left < 1
      ? 'almost done'
      : `about ${left} s left`;
  const count = paths.length > 1 ? `${done} of ${paths.length} packages, ` : '';
  process.stderr.write(`\r\u001b[K${what}: ${count}${rest}`);
}

/** What shows that a package is unpacked; an optional one is perhaps for another machine. */
function pathsOf(entries) {
  return entries.filter(([, entry]) => !entry.optional).map(([path]) => join(path, 'package.json'));
}

function packages(file) {
  return JSON.parse(readFileSync(file, 'utf8')).packages ?? {};
}

function writeJson(path, value) {
  writeFileSync(path, `${JSON.stringify(value, undefined, 2)}\n`);
}
