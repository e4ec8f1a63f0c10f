import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { readProjectFiles } from '../../src/ingest/publish/project-files.ts';
import { loadAgent } from '../../src/project/agents/agent.ts';
import { readConfig } from '../../src/project/open/config-file.ts';
import { listDatasetFiles } from '../../src/project/open/model-files.ts';
import { readQueryLogs } from '../../src/scan/history/read-query-logs.ts';
import { dbt } from '../../src/sources/dbt/source.ts';
import { docs } from '../../src/sources/docs/source.ts';
import { metricflow } from '../../src/sources/metricflow/source.ts';
import { openWarehouse } from '../../src/warehouse/open.ts';
import type { WarehouseConfig } from '../../src/warehouse/config.ts';
import { temporaryFolder } from '../store/git-project.ts';
import { bakery, fetchAll } from './dbt-fixture.ts';

/** Stands in every file outside of the project that a trick could reach. */
const secret = 'hunter2';
let base: string;
let dir: string;
let outside: string;

beforeEach(() => {
  base = temporaryFolder();
  [dir, outside] = [join(base, 'proj'), join(base, 'proj-evil')];
  mkdirSync(dir);
  mkdirSync(outside);
  return () => rmSync(base, { recursive: true, force: true });
});

function add(path: string, text: string): void {
  mkdirSync(dirname(join(base, path)), { recursive: true });
  writeFileSync(join(base, path), text);
}

const link = (target: string, path: string) => {
  mkdirSync(dirname(join(dir, path)), { recursive: true });
  symlinkSync(target, join(dir, path));
};

const pipe = (path: string) => {
  mkdirSync(dirname(join(dir, path)), { recursive: true });
  execFileSync('mkfifo', [join(dir, path)]);
};

const dbtConfig = { driver: 'dbt', path: 'bakery' } as const;
const docsConfig = { driver: 'docs', path: 'docs' } as const;

function addBakery(): void {
  cpSync(bakery, join(dir, 'bakery'), { recursive: true });
}

describe('a dbt project', () => {
  beforeEach(addBakery);

  test('whose dbt_project.yml is a link out of its folder is not read', async () => {
    add('proj-evil/dbt_project.yml', `name: ${secret}\n`);
    rmSync(join(dir, 'bakery/dbt_project.yml'));
    link('../../proj-evil/dbt_project.yml', 'bakery/dbt_project.yml');
    await expect(fetchAll(dbt, dbtConfig, dir)).rejects.toMatchObject({
      code: 'dbt_project_unreadable',
      message: expect.stringContaining('a link that leads out of the folder'),
    });
  });

  test('whose manifest is a link, or in a folder that is one, keeps what it had', async () => {
    add('proj-evil/manifest.json', JSON.stringify({ nodes: {}, secret }));
    rmSync(join(dir, 'bakery/target'), { recursive: true, force: true });
    link('../../../proj-evil/manifest.json', 'bakery/target/manifest.json');
    const failure = { key: 'artifacts/manifest.jsonl', reason: expect.stringContaining('link') };
    expect((await fetchAll(dbt, dbtConfig, dir)).failed).toMatchObject([failure]);
    rmSync(join(dir, 'bakery/target'), { recursive: true });
    link('../../proj-evil', 'bakery/target');
    expect((await fetchAll(dbt, dbtConfig, dir)).failed).toMatchObject([failure]);
  });

  test.each(['models', 'models/marts'])(
    'whose %s leads out of it is read without',
    async (path) => {
      renameSync(join(dir, 'bakery', path), join(outside, 'moved'));
      add(`proj-evil/moved/${secret}.sql`, `select '${secret}'`);
      link(join(outside, 'moved'), `bakery/${path}`);
      const { items, failed } = await fetchAll(dbt, dbtConfig, dir);
      expect(JSON.stringify(items)).not.toContain(secret);
      expect(failed).toMatchObject([
        { key: path, reason: 'it is a link that leads out of the folder' },
      ]);
    },
  );

  test('with links inside of it is read, each folder once, and links in a circle end', async () => {
    const before = await fetchAll(dbt, dbtConfig, dir);
    renameSync(join(dir, 'bakery/models'), join(dir, 'bakery/sql'));
    link('sql', 'bakery/models');
    link('../sql', 'bakery/sql/again');
    link('..', 'bakery/sql/up');
    link('marts/shops.yml', 'bakery/sql/linked.yml');
    const { items, failed } = await fetchAll(dbt, dbtConfig, dir);
    expect(failed).toEqual([]);
    const paths = (found: readonly { path: string }[]) => found.map(({ path }) => path);
    expect(paths(items)).toEqual(expect.arrayContaining(paths(before.items)));
    expect(paths(items)).toContain('models/linked.yml');
    expect(paths(items).filter((path) => /again|up\//.test(path))).toEqual([]);
  });

  test('with a pipe in place of a file is not waited for', async () => {
    pipe('bakery/models/pipe.sql');
    link('pipe.sql', 'bakery/models/linked.sql');
    expect((await fetchAll(dbt, dbtConfig, dir)).failed).toMatchObject([
      { key: 'models/linked.sql', reason: 'it is not a regular file' },
      { key: 'models/pipe.sql', reason: 'it is not a regular file' },
    ]);
    rmSync(join(dir, 'bakery/dbt_project.yml'));
    pipe('bakery/dbt_project.yml');
    await expect(fetchAll(dbt, dbtConfig, dir)).rejects.toMatchObject({
      code: 'dbt_project_unreadable',
    });
  });
});

describe('a folder of documents', () => {
  test('gives its links that stay inside, and names those that leave it', async () => {
    add('proj-evil/secret.md', secret);
    add('proj/docs/a.md', 'words\n');
    link('a.md', 'docs/inside.md');
    link('../../proj-evil/secret.md', 'docs/file.md');
    link('../../proj-evil', 'docs/folder');
    link('.', 'docs/circle');
    link('absent.md', 'docs/dangling.md');
    const { items, failed } = await fetchAll(docs, docsConfig, dir);
    expect(items.map(({ path, body }) => [path, body])).toEqual([
      ['a.md', 'words\n'],
      ['inside.md', 'words\n'],
    ]);
    expect(failed).toMatchObject([
      { key: 'folder', reason: 'it is a link that leads out of the folder' },
      { key: 'dangling.md', reason: 'it is a link to a file that does not exist' },
      { key: 'file.md', reason: 'it is a link that leads out of the folder' },
    ]);
  });

  test('names what is no file in place of a page, so that its facts stay', async () => {
    add('proj/docs/a.md', 'words\n');
    pipe('docs/b.md');
    pipe('docs/other');
    const { items, failed } = await fetchAll(docs, docsConfig, dir);
    expect(items.map(({ path }) => path)).toEqual(['a.md']);
    expect(failed).toMatchObject([{ key: 'b.md', reason: 'it is not a regular file' }]);
  });

  test.each([
    ['docs', docs, docsConfig],
    ['docs', dbt, { driver: 'dbt', path: 'docs' }],
    ['docs', metricflow, { driver: 'metricflow', path: 'docs' }],
  ] as const)('that is itself a link out of the project is refused (%#)', async (path, ...rest) => {
    add('proj-evil/dbt_project.yml', `name: ${secret}\n`);
    link('../proj-evil', path);
    const [source, config] = rest as unknown as [typeof docs, typeof docsConfig];
    await expect(fetchAll(source, config, dir)).rejects.toMatchObject({
      code: 'path_outside_project',
      hint: expect.stringContaining(outside),
    });
  });
});

test('a query log that leaves the project through a link, or is a pipe, is not read', async () => {
  add('proj-evil/log.sql', `select '${secret}';`);
  link('../proj-evil', 'logs');
  await expect(readQueryLogs(['logs/log.sql'], dir)).rejects.toMatchObject({
    code: 'path_outside_project',
  });
  pipe('pipe.sql');
  await expect(readQueryLogs(['pipe.sql'], dir)).rejects.toMatchObject({
    code: 'query_log_unreadable',
  });
  expect(await readQueryLogs(['../proj-evil/log.sql'], dir)).toHaveLength(1);
});

describe('the project’s own files', () => {
  const refused = { code: 'path_outside_project' };

  test('ktx.yaml is no link out of the project', async () => {
    add('proj-evil/ktx.yaml', `connections: {a: {driver: ${secret}}}\n`);
    link('../proj-evil/ktx.yaml', 'ktx.yaml');
    await expect(readConfig(dir)).rejects.toMatchObject(refused);
  });

  test('agents and what they refer to are in the project', async () => {
    add('proj-evil/words.md', secret);
    add('proj/agents/a.yaml', 'name: a\ninstructions: {file: words.md}\n');
    link('../../proj-evil/words.md', 'agents/words.md');
    await expect(loadAgent(dir, 'a')).rejects.toMatchObject(refused);
    add('proj/agents/b.yaml', 'name: b\ninstructions: {file: ../../proj-evil/words.md}\n');
    await expect(loadAgent(dir, 'b')).rejects.toMatchObject(refused);
    rmSync(join(dir, 'agents'), { recursive: true });
    link('../proj-evil', 'agents');
    await expect(loadAgent(dir, 'a')).rejects.toMatchObject(refused);
  });

  test.each(['.env', '.git/config', '.ktx/chats/c.jsonl', '../.env'])(
    'an agent does not send %s to a model as its instructions',
    async (file) => {
      add('proj/.env', secret);
      for (const path of ['.env', '.git/config', '.ktx/chats/c.jsonl'])
        add(`proj/agents/${path}`, secret);
      add('proj/agents/a.yaml', `name: a\ninstructions: {file: ${file}}\n`);
      await expect(loadAgent(dir, 'a')).rejects.toMatchObject({ code: 'agent_invalid' });
      rmSync(join(dir, 'agents/a.yaml'));
      add('proj/agents/a.yaml', 'name: a\ninstructions: {file: words.md}\n');
      link(file, 'agents/words.md');
      await expect(loadAgent(dir, 'a')).rejects.toMatchObject({ code: 'agent_invalid' });
    },
  );

  test('semantic files, pages and claims are read where git has them', async () => {
    add('proj-evil/shop/orders.yaml', `dataset: ${secret}\n`);
    link('../proj-evil', 'semantic-layer');
    await expect(listDatasetFiles(dir, 'shop')).rejects.toMatchObject(refused);
    await expect(readProjectFiles(dir, ['semantic-layer'])).rejects.toMatchObject({
      code: 'path_is_link',
    });
    add('proj-evil/page.md', secret);
    link('../../proj-evil/page.md', 'wiki/page.md');
    const [page = ''] = (await readProjectFiles(dir, ['wiki'])).values();
    expect([page.includes(secret), page.startsWith('\uD800')]).toEqual([false, true]);
    pipe('claims/shop/orders.jsonl');
    await expect(readProjectFiles(dir, ['claims/shop'])).rejects.toMatchObject({
      code: 'file_unreadable',
    });
  });
});

describe('data files of a warehouse', () => {
  const open = async (config: WarehouseConfig) => {
    const signal = AbortSignal.timeout(30_000);
    const cacheDir = join(dir, 'cache');
    const context = { connection: 'shop', projectDir: dir, cacheDir, secrets: () => '' };
    const warehouse = await openWarehouse({ ...context, config }, signal);
    try {
      return (await warehouse.introspect({}, signal)).tables.map(({ table }) => table);
    } finally {
      await warehouse.close();
    }
  };
  const refused = { code: 'path_outside_project' };

  test('are links inside of the folder, and none that leave it', async () => {
    add('proj/data/a.csv', 'id\n1\n');
    link('a.csv', 'data/b.csv');
    expect((await open({ driver: 'duckdb', path: 'data' })).toSorted()).toEqual(['a', 'b']);
    add('proj-evil/secret.csv', `id\n${secret}\n`);
    link('../../proj-evil/secret.csv', 'data/c.csv');
    await expect(open({ driver: 'duckdb', path: 'data' })).rejects.toMatchObject(refused);
    await expect(open({ driver: 'duckdb', path: 'data/*.csv' })).rejects.toMatchObject(refused);
    await expect(open({ driver: 'duckdb', path: 'data/c.csv' })).rejects.toMatchObject(refused);
  });

  test.each(['duckdb', 'sqlite'] as const)(
    'of %s are no link out of the project',
    async (driver) => {
      add('proj-evil/private.db', secret);
      link('../proj-evil/private.db', 'shop.db');
      await expect(open({ driver, path: 'shop.db' })).rejects.toMatchObject(refused);
      pipe('pipe.db');
      await expect(open({ driver, path: 'pipe.db' })).rejects.toMatchObject({
        code: 'not_a_database',
      });
    },
  );
});
