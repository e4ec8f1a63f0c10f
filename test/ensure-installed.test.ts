import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

const script = fileURLToPath(new URL('../scripts/ensure-installed.mjs', import.meta.url));
const root = mkdtempSync(join(tmpdir(), 'ktx-ensure-installed-'));
const template = join(root, 'template');
mkdirSync(template);
let dir = template;

/** A project with one package that it runs with and one that only its tests need, both in files. */
beforeAll(() => {
  dir = template;
  writeFileSync(join(dir, '.npmrc'), 'offline=true\nloglevel=error\ncache=./npm-cache\n');
  writeJson('package.json', {
    name: 'p',
    version: '1.0.0',
    dependencies: { runs: packed('runs') },
    devDependencies: { tests: packed('tests') },
  });
  npm('install', '--package-lock-only', '--no-audit');
});

beforeEach(() => {
  dir = mkdtempSync(join(root, 'project-'));
  cpSync(template, dir, { recursive: true });
});

afterAll(() => {
  rmSync(root, { recursive: true, force: true });
});

test('what only tests need is installed when tests run, and nothing twice', () => {
  expect(ensureInstalled('--to-run')).toContain('Installing the dependencies, once');
  expect(present()).toEqual(['runs']);
  expect(ensureInstalled('--to-run')).toBe('');

  expect(ensureInstalled()).toContain('Installing the dependencies, once');
  expect(present()).toEqual(['runs', 'tests']);
  expect(ensureInstalled()).toBe('');
  expect(ensureInstalled('--to-run')).toBe('');
});

test('another version in the lockfile is installed, also by what only runs ktx', () => {
  ensureInstalled();
  const lock = readFileSync(join(dir, 'node_modules/.package-lock.json'), 'utf8');
  writeFileSync(
    join(dir, 'node_modules/.package-lock.json'),
    lock.replaceAll('"version": "1.0.0"', '"version": "0.9.0"'),
  );
  expect(ensureInstalled('--to-run')).toContain('Installing the dependencies, once');
  expect(ensureInstalled('--to-run')).toBe('');
});

test('what ktx runs with stays if the rest cannot be had', () => {
  ensureInstalled('--to-run');
  rmSync(join(dir, 'tests-1.0.0.tgz'));
  rmSync(join(dir, 'npm-cache'), { recursive: true });
  expect(run().status).toBe(1);
  expect(present()).toEqual(['runs']);
  expect(ensureInstalled('--to-run')).toBe('');
});

test('an installation that fails says so, and is tried again', () => {
  const tarball = join(dir, 'runs-1.0.0.tgz');
  const content = readFileSync(tarball);
  rmSync(tarball);
  rmSync(join(dir, 'npm-cache'), { recursive: true });
  const { status, stderr } = run('--to-run');
  expect(status).toBe(1);
  expect(stderr).toContain('could not be installed; npm says why above');
  writeFileSync(tarball, content);
  ensureInstalled('--to-run');
  expect(present()).toEqual(['runs']);
});

function packed(name: string): string {
  const folder = join(dir, name);
  mkdirSync(folder);
  writeJson(join(name, 'package.json'), { name, version: '1.0.0' });
  npm('pack', `./${name}`);
  return `file:${name}-1.0.0.tgz`;
}

function writeJson(path: string, value: unknown): void {
  writeFileSync(join(dir, path), JSON.stringify(value));
}

function npm(...args: readonly string[]): void {
  const { status, stderr } = spawnSync('npm', args, { cwd: dir, encoding: 'utf8', env: ownEnv() });
  if (status !== 0) throw new Error(`npm ${args[0]}: ${stderr}`);
}

/** Without what an npm that runs the tests says to the npm in a folder of its own. */
function ownEnv(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith('npm_config_')),
  );
}

function run(...args: readonly string[]) {
  return spawnSync(process.execPath, [script, ...args], {
    cwd: dir,
    encoding: 'utf8',
    env: ownEnv(),
  });
}

function ensureInstalled(...args: readonly string[]): string {
  const { status, stderr } = run(...args);
  expect(stderr).not.toContain('could not be installed');
  expect(status).toBe(0);
  return stderr;
}

function present(): readonly string[] {
  return ['runs', 'tests'].filter((name) => existsSync(join(dir, 'node_modules', name)));
}
