import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { folder, ktx, ktxJson, shopProject } from './run-cli.ts';

async function complaint(
  content: string | Uint8Array,
): Promise<{ code: number; message: string; hint: string | undefined; error: string | undefined }> {
  const cwd = folder();
  writeFileSync(join(cwd, 'ktx.yaml'), content);
  const { code, envelope, stderr } = await ktxJson(['connection', 'list'], { cwd });
  expect(stderr).toBe('');
  return {
    code,
    error: envelope.error?.code,
    message: envelope.error?.message ?? '',
    hint: envelope.error?.hint,
  };
}

describe('ktx.yaml that is wrong', () => {
  test.each([
    [
      'an unknown key of a connection',
      'connections:\n  wh:\n    driver: sqlite\n    pth: x.db\n',
      'ktx.yaml:4:5: connections.wh.pth: unknown key; did you mean path?',
    ],
    [
      'a name of its own',
      'connections:\n  ktx: {driver: sqlite, path: x.db}\n',
      'connections.ktx: ktx, person, wiki, notes are reserved names',
    ],
    [
      'an unknown section',
      'conections: {}\n',
      'ktx.yaml:1:1: conections: unknown key; did you mean connections?',
    ],
    [
      'an unknown key in a flow map',
      'connections:\n  wh: {driver: sqlite, path: x.db, frobnicate: 1}\n',
      'ktx.yaml:2:36: connections.wh.frobnicate: unknown key; one of driver, path, allow_functions',
    ],
    [
      'an unknown driver',
      'connections:\n  wh: {driver: sqllite, path: x.db}\n',
      'ktx.yaml:2:16: connections.wh.driver: cannot be "sqllite"; did you mean sqlite?',
    ],
    [
      'a missing setting',
      'connections:\n  wh: {driver: sqlite}\n',
      'connections.wh.path: is missing (a text)',
    ],
    [
      'a value of the wrong type',
      'query:\n  max_rows: many\n',
      'ktx.yaml:2:13: query.max_rows: must be a number, not "many"',
    ],
    [
      'a value below its range',
      'query:\n  max_rows: 0\n',
      'ktx.yaml:2:13: query.max_rows: must be at least 1, not 0',
    ],
    [
      'a value at an open end',
      'query:\n  timeout_seconds: 0\n',
      'query.timeout_seconds: must be more than 0, not 0',
    ],
    [
      'a value above its range',
      'query:\n  timeout_seconds: 1e9\n',
      'query.timeout_seconds: must be at most 86400, not 1000000000',
    ],
    ['a fraction', 'query:\n  max_rows: 1.5\n', 'query.max_rows: must be a whole number, not 1.5'],
    ['nothing where a map belongs', 'query:\n', 'ktx.yaml:1:7: query: must be a map, not empty'],
    [
      'an empty text',
      'connections:\n  wh: {driver: sqlite, path: ""}\n',
      'connections.wh.path: must not be empty',
    ],
    [
      'a text that may be a secret',
      'connections:\n  wh: {driver: postgres, url: 12345}\n',
      'connections.wh.url: must be a text, not a number',
    ],
    [
      'a name that cannot be a path',
      'connections:\n  "../up": {driver: sqlite, path: x.db}\n',
      'a connection name is lower case',
    ],
    [
      'a path with a NUL',
      'connections:\n  wh: {driver: sqlite, path: "a\\0b"}\n',
      'ktx.yaml:2:30: connections.wh.path: a path has no NUL',
    ],
    [
      'such a path of DuckDB',
      'connections:\n  wh: {driver: duckdb, path: "a\\0b"}\n',
      'connections.wh.path: a path has no NUL',
    ],
    [
      'such a host of Postgres',
      'connections:\n  wh: {driver: postgres, host: "a\\0b", database: x}\n',
      'connections.wh.host: a path has no NUL',
    ],
    ['a key twice', 'query:\n  max_rows: 1\n  max_rows: 2\n', 'ktx.yaml:3:3: '],
    ['a tab', 'connections:\n\twh: {}\n', 'ktx.yaml:2:'],
    ['no map', '- a\n', 'ktx.yaml:1:1: must be a map'],
    ['an empty file', '', 'ktx.yaml is empty'],
    ['two documents', 'query: {}\n---\nquery: {}\n', 'ktx.yaml:2:'],
  ])('%s', async (_what, text, expected) => {
    const { code, error, message, hint } = await complaint(text);
    expect({ code, error }).toEqual({ code: 2, error: 'config_invalid' });
    expect(message).toContain(expected);
    expect(hint).toBeTruthy();
  });

  test('text that is not UTF-8', async () => {
    expect(await complaint(Uint8Array.from([0x71, 0xff, 0xfe, 0x3a]))).toMatchObject({
      error: 'not_utf8',
    });
  });

  test('a secret written out', async () => {
    const { message, code } = await complaint(
      'connections:\n  wh:\n    driver: postgres\n    url: postgres://u:hunter2@h/d\n',
    );
    expect(code).toBe(2);
    expect(message).toContain('ktx.yaml:4:');
    expect(message).toContain('url: env:');
    expect(message).not.toContain('hunter2');
  });
});

describe('what every object has is no connection', () => {
  test.each(['__proto__', 'constructor', 'toString'])('%s', async (name) => {
    const cwd = await shopProject();
    for (const argv of [
      ['sql', '--connection', name, 'SELECT 1'],
      ['connection', 'test', name],
      ['ingest', name],
    ]) {
      const { code, envelope } = await ktxJson(argv, { cwd });
      expect({ argv, code, error: envelope.error?.code }).toEqual({
        argv,
        code: 2,
        error: 'connection_unknown',
      });
    }
  });

  test('though one may be called like it', async () => {
    const cwd = await shopProject();
    expect(
      (
        await ktx(['connection', 'add', 'constructor', '--driver', 'sqlite', '--path', 'shop.db'], {
          cwd,
        })
      ).code,
    ).toBe(0);
    expect((await ktxJson(['sql', '--connection', 'constructor', 'SELECT 1'], { cwd })).code).toBe(
      0,
    );
  });
});

describe('a link in place of .ktx, or in it', () => {
  test('is refused, and nothing is written through it', async () => {
    const cwd = await shopProject();
    const outside = folder();
    rmSync(join(cwd, '.ktx'), { recursive: true });
    symlinkSync(outside, join(cwd, '.ktx'));
    for (const argv of [['ingest'], ['sql', 'SELECT 1'], ['connection', 'test']]) {
      const { code, envelope } = await ktxJson(argv, { cwd });
      expect({ argv, code, error: envelope.error?.code }).toEqual({
        argv,
        code: 2,
        error: 'state_is_link',
      });
    }
    rmSync(join(cwd, '.ktx'));
    mkdirSync(join(cwd, '.ktx'));
    symlinkSync(join(outside, 'holder'), join(cwd, '.ktx', 'lock.db.holder'));
    expect((await ktxJson(['ingest'], { cwd })).envelope.error).toMatchObject({
      code: 'state_is_link',
    });
    rmSync(join(cwd, '.ktx', 'lock.db.holder'));
    mkdirSync(join(cwd, '.ktx', 'cache'));
    expect((await ktxJson(['sql', 'SELECT 1'], { cwd })).code).toBe(0);
    symlinkSync(join(outside, 'private.duckdb'), join(cwd, '.ktx', 'cache', 'shop.duckdb'));
    expect((await ktxJson(['sql', 'SELECT 1'], { cwd })).envelope.error).toMatchObject({
      code: 'state_is_link',
    });
    expect(readdirSync(outside)).toEqual([]);
  });
});

describe('a project is found', () => {
  test('from a folder below it, by KTX_PROJECT_DIR, and by --project-dir before that', async () => {
    const cwd = await shopProject();
    const elsewhere = folder();
    for (const [argv, given] of [
      [[], { cwd: join(cwd, '.ktx') }],
      [[], { cwd: elsewhere, env: { KTX_PROJECT_DIR: cwd } }],
      [['--project-dir', cwd], { cwd: elsewhere, env: { KTX_PROJECT_DIR: elsewhere } }],
    ] as const) {
      const { code, stdout } = await ktx(['connection', 'list', '--format', 'csv', ...argv], given);
      expect({ code, stdout }).toEqual({
        code: 0,
        stdout: 'connection,driver,at\nwarehouse,sqlite,shop.db\n',
      });
    }
  });

  test('or the error says where was looked', async () => {
    const cwd = folder();
    const { code, stderr } = await ktx(['connection', 'list', '--project-dir', 'nowhere'], { cwd });
    expect(code).toBe(2);
    expect(stderr.replaceAll(cwd, '<cwd>')).toMatchInlineSnapshot(`
      "error: There is no ktx project here: no ktx.yaml in <cwd>/nowhere (--project-dir) [project_not_found]
        next: ktx --project-dir nowhere setup creates one; ktx --project-dir nowhere demo shows an example
      "
    `);
  });
});
