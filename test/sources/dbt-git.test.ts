import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { ktx, ktxJson } from '../cli/run-cli.ts';
import { run } from '../store/git-project.ts';
import { bakery, duckdbFile } from './dbt-fixture.ts';

let base: string;
let repository: string;
let dir: string;
const read = (path: string) => readFileSync(join(dir, path), 'utf8');

function commit(words: string): void {
  run(repository, 'add', '.');
  run(
    repository,
    '-c',
    'user.name=Ada',
    '-c',
    'user.email=ada@example.org',
    'commit',
    '-qm',
    words,
  );
}

beforeEach(async () => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'ktx-dbt-git-')));
  [repository, dir] = [join(base, 'analytics'), join(base, 'project')];
  mkdirSync(dir);
  cpSync(bakery, join(repository, 'transform'), { recursive: true });
  rmSync(join(repository, 'transform/target'), { recursive: true });
  writeFileSync(join(base, 'secret.yml'), 'models: [{name: shops, description: a secret}]\n');
  symlinkSync(join(base, 'secret.yml'), join(repository, 'transform/models/leak.yml'));
  run(repository, 'init', '-q', '-b', 'main');
  commit('start');
  await duckdbFile(dir, readFileSync(join(bakery, 'warehouse.sql'), 'utf8'));
  writeFileSync(
    join(dir, 'ktx.yaml'),
    'connections:\n  shop: {driver: duckdb, path: warehouse.duckdb, schemas: [main, raw]}\n',
  );
  writeFileSync(join(dir, '.gitignore'), '*.duckdb\n');
  return () => rmSync(base, { recursive: true, force: true });
});

test('a dbt project is read from a git repository, follows it, and stays as it was where that is out of reach', async () => {
  const flags = [
    '--driver',
    'dbt',
    '--git',
    `file://${repository}`,
    '--path',
    'transform',
    '--target-schema',
    'main',
  ];
  expect(await ktx(['connection', 'add', 'models', ...flags], { cwd: dir })).toMatchObject({
    code: 0,
  });
  expect(await ktxJson(['ingest'], { cwd: dir })).toMatchObject({
    envelope: { data: { quarantined: [] } },
  });
  expect(read('semantic-layer/shop/shops.yaml')).toContain('description: Where we sell.');
  expect(run(dir, 'ls-files', 'sources/models')).toContain('models/marts/shops.yml');
  expect(JSON.stringify(await ktxJson(['search', 'secret'], { cwd: dir }))).not.toContain(
    'a secret',
  );
  expect((await ktxJson(['ingest'], { cwd: dir })).envelope.data).toMatchObject({
    commit: { none: 'unchanged' },
  });

  const file = join(repository, 'transform/models/marts/shops.yml');
  writeFileSync(
    file,
    readFileSync(file, 'utf8').replace('Where we sell.', 'Where we bake and sell.'),
  );
  expect((await ktxJson(['ingest', 'models'], { cwd: dir })).envelope.data).toMatchObject({
    commit: { none: 'unchanged' },
  });
  commit('words');
  await ktxJson(['ingest', 'models'], { cwd: dir });
  expect(read('semantic-layer/shop/shops.yaml')).toContain('Where we bake and sell.');

  renameSync(repository, `${repository}-gone`);
  const lost = await ktxJson(['ingest', 'models'], { cwd: dir });
  expect([lost.code, lost.envelope.error?.code]).toEqual([1, 'repository_unreachable']);
  expect(read('semantic-layer/shop/shops.yaml')).toContain('Where we bake and sell.');
});

test('a branch is followed by its name, and what is no branch or no place in it is told', async () => {
  run(repository, 'checkout', '-qb', 'next');
  const file = join(repository, 'transform/models/marts/shops.yml');
  writeFileSync(file, readFileSync(file, 'utf8').replace('Where we sell.', 'Where we shall sell.'));
  commit('next');
  run(repository, 'checkout', '-q', 'main');
  const add = async (...flags: string[]) =>
    ktxJson(['connection', 'add', 'models', '--driver', 'dbt', '--git', repository, ...flags], {
      cwd: dir,
    });
  expect((await add('--path', 'transform', '--branch', 'absent')).envelope.error?.code).toBe(
    'repository_unreachable',
  );
  expect((await add('--path', '../..')).envelope.error?.code).toBe('path_outside');
  expect((await add('--path', 'nothing')).envelope.error?.code).toBe('dbt_project_missing');
  expect(
    (await add('--path', 'transform', '--branch', 'next', '--target-schema', 'main')).code,
  ).toBe(0);
  await ktxJson(['ingest'], { cwd: dir });
  expect(read('semantic-layer/shop/shops.yaml')).toContain('Where we shall sell.');
});

test('files of a repository that are broken or gone are fetched again, and the project’s own are left alone', async () => {
  const flags = [
    '--driver',
    'dbt',
    '--git',
    repository,
    '--path',
    'transform',
    '--target-schema',
    'main',
  ];
  expect(await ktx(['connection', 'add', 'models', ...flags], { cwd: dir })).toMatchObject({
    code: 0,
  });
  await ktxJson(['ingest'], { cwd: dir });
  const [clone = ''] = globSync('.ktx/cache/**/git-*', { cwd: dir });
  const own = join(dir, clone);
  const file = join(repository, 'transform/models/marts/shops.yml');
  const [halve, strange, lose] = [
    () => rmSync(join(own, 'transform'), { recursive: true }),
    () => writeFileSync(`${own}.commit`, 'x'),
    () => rmSync(own, { recursive: true }),
  ];
  for (const [index, spoil] of [halve, strange, lose].entries()) {
    writeFileSync(
      file,
      readFileSync(file, 'utf8').replace(/Where we .*/, `Where we sell ${index}.`),
    );
    commit('words');
    const head = run(dir, 'rev-parse', 'HEAD').trim();
    spoil();
    expect((await ktxJson(['ingest', 'models'], { cwd: dir })).envelope.error).toBeUndefined();
    expect(read('semantic-layer/shop/shops.yaml')).toContain(`Where we sell ${index}.`);
    expect([run(dir, 'rev-parse', 'HEAD~1').trim(), existsSync(join(dir, 'transform'))]).toEqual([
      head,
      false,
    ]);
  }
});

test('a project names no folder of this machine as its target', async () => {
  cpSync(join(bakery, 'target'), join(base, 'elsewhere'), { recursive: true });
  const own = join(repository, 'transform/dbt_project.yml');
  writeFileSync(
    own,
    `${readFileSync(own, 'utf8').replace(/^target-path:.*$/m, '')}\ntarget-path: ${join(base, 'elsewhere')}\n`,
  );
  commit('another target');
  const add = [
    'connection',
    'add',
    'models',
    '--driver',
    'dbt',
    '--git',
    repository,
    '--path',
    'transform',
    '--target-schema',
    'main',
  ];
  await ktx(add, { cwd: dir });
  const { code, envelope } = await ktxJson(['ingest'], { cwd: dir });
  expect([code, existsSync(join(dir, 'sources/models/artifacts'))]).toEqual([3, false]);
  expect(JSON.stringify(envelope.data)).toContain('target-path leads out of the project');
  expect(read('semantic-layer/shop/shops.yaml')).toContain('description: Where we sell.');
});

test('an address starts no program and bears no password', async () => {
  const canary = join(base, 'canary');
  for (const url of [
    `ext::sh -c touch% ${canary}`,
    `--upload-pack=touch ${canary}`,
    'https://ada:hunter2@example.org/x.git',
  ]) {
    const { code, stdout, stderr } = await ktx(
      ['connection', 'add', 'models', '--driver', 'dbt', '--git', url],
      { cwd: dir },
    );
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('--git');
    expect(stderr).not.toContain('hunter2');
  }
  expect(existsSync(canary)).toBe(false);
});
