import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { spawnSync } from 'node:child_process';
import { describe, expect, inject, test, vi } from 'vitest';
import tree from '../../src/cli/completion/completion-tree.json' with { type: 'json' };
import { schemaFlags } from '../../src/cli/flags/schema-flags.ts';
import { providers } from '../../src/llm/ai-sdk/providers.ts';
import { duckdbFile } from '../sources/dbt-fixture.ts';
import { createDatabase, runPostgres } from '../support/postgres.ts';
import { folder, ktx, ktxJson, shopDatabase, shopProject } from './run-cli.ts';

describe('ktx setup', () => {
  test('asks nothing that no flag answers', () => {
    const cli = join(import.meta.dirname, '../../src/cli');
    const [setup, setupLlm, ...asking] = [
      'commands/setup/setup.ts',
      'commands/setup/setup-llm.ts',
      'flags/connection-flags.ts',
      'flags/llm-flags.ts',
      'commands/setup/first-answer.ts',
    ].map((file) => readFileSync(join(cli, file), 'utf8'));
    expect([setup, setupLlm].join('\n')).not.toMatch(/\b(?:promptUser|promptForFlag)\(/);
    const questions = asking.flatMap((text) =>
      [...text.matchAll(/\b(promptUser|promptForFlag)\(([^,]*)/g)].map(([, how, flag]) => [
        how,
        flag,
      ]),
    );
    const known = Object.keys(tree.commands.setup.flags);
    const literal = questions.flatMap(([, flag = '']) =>
      flag.startsWith("'") ? [flag.slice(1, -1)] : [],
    );
    expect(questions).toHaveLength(8);
    expect(questions.map(([how]) => how)).toEqual(questions.map(() => 'promptForFlag'));
    expect(literal).toEqual(
      ['--driver', '--llm-auth', '--llm-model', '--llm-backend', '--llm-preset'].filter((flag) =>
        known.includes(flag),
      ),
    );
    // The steps behind them: one function asks, with the flag of the step.
    const steps = ['--ingest', '--accept-measures', '--first-question', '--mcp-client'];
    const asked = [...(asking.at(-1) ?? '').matchAll(/flag: '(--[\w-]+)'/g)].map(
      ([, flag]) => flag,
    );
    expect(asked).toEqual(steps);
    expect(known).toEqual(expect.arrayContaining([...steps, '--keep-password']));
    // The others ask for the place of a warehouse, and for each setting of a provider.
    const settings = Object.values(providers).flatMap(({ config }) =>
      schemaFlags(config).map(({ option }) => (option.long ?? '').replace('--', '--llm-')),
    );
    expect(['--path', '--url', ...settings].filter((flag) => !known.includes(flag))).toEqual([]);
  });

  test('goes on to an answer, each step by its flag and none without', async () => {
    const cwd = folder();
    shopDatabase(join(cwd, 'shop.db'));
    const setup = ['setup', '--driver', 'sqlite', '--path', 'shop.db'];
    const both = await ktx([...setup, '--ingest', '--json'], { cwd });
    expect([both.code, both.stdout]).toEqual([2, expect.stringContaining('prints one envelope')]);
    expect(existsSync(join(cwd, 'ktx.yaml'))).toBe(false);
    const question = ['--first-question', 'orders.count by orders.customer.name'];
    const wrong = await ktx([...setup, '--ingest', ...question, '--mcp-client', 'none'], { cwd });
    expect(wrong.code).toBe(1);
    expect(wrong.stderr).toMatch(/wrote \.git, ktx\.yaml[^]*2 datasets, \d joins?/);
    // A later run goes on: what is there is not done again.
    const right = await ktx(['setup', '--first-question', 'orders.count'], { cwd });
    expect(right.code).toBe(0);
    expect(right.stderr).toContain('ktx sl query -m orders.count');
    expect(right.stdout).toMatch(/orders\.count\n +\d+\n/);
    expect((await ktx(setup, { cwd })).stdout).not.toContain('orders.count');
  });

  test('probes, writes the configuration and its schema, makes a repository; a second run changes nothing', async () => {
    const cwd = folder();
    shopDatabase(join(cwd, 'shop.db'));
    const argv = ['setup', '--driver', 'sqlite', '--path', 'shop.db'];
    const first = await ktx(argv, { cwd });
    expect(first.code).toBe(0);
    expect(first.stdout.replaceAll(cwd, '<cwd>').replace(/in \d+ ms/, 'in … ms'))
      .toMatchInlineSnapshot(`
      "warehouse: connected in … ms, 2 tables in main
      <cwd>: wrote .git, ktx.yaml, .ktx/ktx.schema.json
      "
    `);
    expect(readFileSync(join(cwd, 'ktx.yaml'), 'utf8')).toMatchInlineSnapshot(`
      "# yaml-language-server: $schema=./.ktx/ktx.schema.json
      connections:
        warehouse:
          driver: sqlite
          path: shop.db
      "
    `);
    expect(JSON.parse(readFileSync(join(cwd, '.ktx/ktx.schema.json'), 'utf8'))).toMatchObject({
      type: 'object',
    });
    expect(spawnSync('git', ['status', '--porcelain'], { cwd, encoding: 'utf8' }).stdout).toBe(
      '?? ktx.yaml\n?? shop.db\n',
    );
    const second = await ktxJson(argv, { cwd });
    expect(second.envelope).toMatchObject({
      ok: true,
      data: { written: [], probe: { tables: 2, schemas: ['main'] } },
    });
  });

  test('keeps what stands where nothing new is said', async () => {
    const cwd = await shopProject();
    const before = readFileSync(join(cwd, 'ktx.yaml'), 'utf8');
    const { code, stdout } = await ktx(['setup'], { cwd });
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringContaining('already set up, with 1 connection: warehouse'),
    });
    expect(readFileSync(join(cwd, 'ktx.yaml'), 'utf8')).toBe(before);
  });

  test('a schema that does not exist is refused with those that do, and nothing is written', async () => {
    const url = await createDatabase('schemas');
    await runPostgres(url, 'CREATE SCHEMA analytics; CREATE TABLE analytics.t (id int)');
    vi.stubEnv('KTX_TEST_URL', url);
    const cwd = folder();
    const argv = ['setup', '--driver', 'postgres', '--url', 'env:KTX_TEST_URL', '--schema'];
    expect(await ktxJson([...argv, 'nosuch'], { cwd })).toMatchObject({
      code: 2,
      envelope: { error: { code: 'schema_empty', hint: expect.stringContaining('analytics') } },
    });
    expect(readdirSync(cwd)).toEqual([]);
    expect(await ktx([...argv, 'analytics'], { cwd })).toMatchObject({ code: 0 });
    vi.unstubAllEnvs();
  });

  test('a file where the folder belongs is refused by name', async () => {
    const cwd = folder();
    shopDatabase(join(cwd, 'shop.db'));
    const { code, envelope } = await ktxJson(
      ['setup', '--driver', 'sqlite', '--path', 'shop.db', '--project-dir', 'shop.db'],
      { cwd },
    );
    expect({ code, error: envelope.error?.code }).toEqual({ code: 2, error: 'not_a_folder' });
  });

  test('what to type next starts as this run was started', async () => {
    const cwd = await shopProject();
    const { stderr } = await ktx(['scan', '--project-dir', cwd], {
      cwd,
      env: { npm_lifecycle_event: 'npx' },
    });
    expect(stderr).toContain(`next  npx ktx --project-dir ${cwd} ingest       write`);
    expect(
      (await ktx(['sl', 'query', '-m', 'orders.count', '--project-dir', '.'], { cwd })).stderr,
    ).toContain('next: ktx --project-dir . ingest');
  });

  test('a file of the other engine is told by its name', async () => {
    const cwd = folder();
    shopDatabase(join(cwd, 'shop.db'));
    const { envelope } = await ktxJson(['setup', '--driver', 'duckdb', '--path', 'shop.db'], {
      cwd,
    });
    expect(envelope.error).toMatchObject({
      code: 'not_a_database',
      hint: expect.stringContaining('--driver sqlite'),
    });
    expect(envelope.error?.message).toContain('is a SQLite file');
  });

  test('from a clone it works in the folder that the command was typed in', async () => {
    const cwd = await shopProject();
    const env = { ...process.env, npm_lifecycle_event: 'ktx', INIT_CWD: cwd };
    const argv = [join(import.meta.dirname, '../../src/cli/main.ts'), 'scan'];
    const { stdout, stderr } = spawnSync(process.execPath, argv, { encoding: 'utf8', env });
    expect(stdout).toContain('orders(customer_id)');
    expect(stderr).toMatch(/next {2}npm --prefix \S+ run -s ktx -- ingest/);
  });

  test('keeps to the folder of --project-dir, inside a repository that stands', async () => {
    const cwd = folder();
    spawnSync('git', ['init', '--quiet'], { cwd });
    shopDatabase(join(cwd, 'shop.db'));
    const { envelope } = await ktxJson(
      [
        'setup',
        '--driver',
        'sqlite',
        '--path',
        '../shop.db',
        '--project-dir',
        'context',
        '--name',
        'shop',
      ],
      { cwd },
    );
    expect(envelope).toMatchObject({
      ok: true,
      data: { connection: 'shop', written: ['ktx.yaml', '.ktx/ktx.schema.json'] },
    });
    expect(readdirSync(join(cwd, 'context')).sort()).toEqual(['.ktx', 'ktx.yaml']);
  });

  test('works where git is not installed; scans and queries do too', async () => {
    const cwd = folder();
    shopDatabase(join(cwd, 'shop.db'));
    vi.stubEnv('PATH', '/nowhere');
    expect(
      (await ktxJson(['setup', '--driver', 'sqlite', '--path', 'shop.db'], { cwd })).envelope,
    ).toMatchObject({
      ok: true,
      data: { written: ['ktx.yaml', '.ktx/ktx.schema.json'] },
    });
    for (const argv of [['scan'], ['sql', 'SELECT 1'], ['status']])
      expect(await ktxJson(argv, { cwd })).toMatchObject({ code: 0 });
    expect(
      (await ktxJson(['sl', 'query', '-m', 'orders.count'], { cwd })).envelope.error,
    ).toMatchObject({
      code: 'no_datasets',
      hint: 'ktx ingest',
    });
    expect((await ktxJson(['ingest'], { cwd })).envelope.error).toMatchObject({
      code: 'git_missing',
    });
    expect(await ktx(['doctor'], { cwd })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Broken: git'),
    });
    vi.unstubAllEnvs();
  });

  test('does not replace a configuration that says otherwise', async () => {
    const cwd = await shopProject();
    const before = readFileSync(join(cwd, 'ktx.yaml'), 'utf8');
    shopDatabase(join(cwd, 'other.db'));
    const { code, envelope } = await ktxJson(
      ['setup', '--driver', 'sqlite', '--path', 'other.db'],
      { cwd },
    );
    expect({ code, error: envelope.error?.code }).toEqual({ code: 2, error: 'connection_exists' });
    expect(envelope.error?.hint).toContain('ktx connection remove warehouse');
    expect(readFileSync(join(cwd, 'ktx.yaml'), 'utf8')).toBe(before);
    expect(await ktx(['connection', 'remove', 'warehouse'], { cwd })).toMatchObject({ code: 0 });
    expect(await ktx(['setup', '--driver', 'sqlite', '--path', 'other.db'], { cwd })).toMatchObject(
      { code: 0 },
    );
    expect(readFileSync(join(cwd, 'ktx.yaml'), 'utf8')).toContain('path: other.db');
  });
});

describe('ktx connection', () => {
  test('add and remove keep comments, order and layout', async () => {
    const cwd = await shopProject();
    const path = join(cwd, 'ktx.yaml');
    const written =
      '# ours\nquery: {max_rows: 50} # few\n\nconnections:\n  # the shop\n  warehouse: {driver: sqlite, path: shop.db} # live\n';
    writeFileSync(path, written);
    shopDatabase(join(cwd, 'crm.db'));
    expect(
      await ktx(['connection', 'add', 'crm', '--driver', 'sqlite', '--path', 'crm.db'], { cwd }),
    ).toMatchObject({ code: 0 });
    expect(readFileSync(path, 'utf8')).toBe(
      `${written}  crm:\n    driver: sqlite\n    path: crm.db\n`,
    );
    expect(
      (
        await ktxJson(['connection', 'add', 'crm', '--driver', 'sqlite', '--path', 'shop.db'], {
          cwd,
        })
      ).envelope.error?.code,
    ).toBe('connection_exists');
    expect(
      await ktx(['connection', 'add', 'crm', '--driver', 'sqlite', '--path', 'crm.db'], { cwd }),
    ).toMatchObject({ code: 0 });
    expect(readFileSync(path, 'utf8')).toBe(
      `${written}  crm:\n    driver: sqlite\n    path: crm.db\n`,
    );
    expect((await ktxJson(['sql', 'SELECT 1'], { cwd })).envelope.error).toMatchObject({
      code: 'connection_required',
      details: { choices: ['warehouse', 'crm'] },
      hint: 'one of warehouse, crm: --connection <name>',
    });
    expect((await ktxJson(['scan'], { cwd })).envelope.error?.hint).toBe(
      'one of warehouse, crm: ktx scan <name>',
    );
    expect(await ktx(['connection', 'remove', 'crm'], { cwd })).toMatchObject({ code: 0 });
    expect(readFileSync(path, 'utf8')).toBe(written);
  });

  test('test says what the login may do', async () => {
    const cwd = await shopProject();
    expect((await ktxJson(['connection', 'test'], { cwd })).envelope).toMatchObject({
      ok: true,
      data: { connection: 'warehouse', probe: { tables: 2 } },
    });
    expect((await ktx(['connection', 'test'], { cwd })).stdout).toContain('login: read-only');
    expect(
      (await ktxJson(['connection', 'test', 'warehous'], { cwd })).envelope.error,
    ).toMatchObject({
      code: 'connection_unknown',
      hint: 'did you mean warehouse?',
    });
  });
});

describe('a warehouse that does not answer', () => {
  const url = () => new URL(inject('postgresUrl'));
  const withPassword = (password: string) => Object.assign(url(), { password }).href;
  const cases: readonly {
    what: string;
    prepare?: (cwd: string) => void;
    env?: () => string;
    argv: readonly string[];
    code: number;
  }[] = [
    {
      what: 'duckdb: a missing file',
      argv: ['--driver', 'duckdb', '--path', 'none.duckdb'],
      code: 2,
    },
    {
      what: 'duckdb: 0 bytes',
      prepare: (cwd) => writeFileSync(join(cwd, 'zero.duckdb'), ''),
      argv: ['--driver', 'duckdb', '--path', 'zero.duckdb'],
      code: 2,
    },
    {
      what: 'duckdb: a SQLite file',
      prepare: (cwd) => shopDatabase(join(cwd, 'shop.db')),
      argv: ['--driver', 'duckdb', '--path', 'shop.db'],
      code: 2,
    },
    {
      what: 'duckdb: no database',
      prepare: (cwd) => writeFileSync(join(cwd, 'text.duckdb'), 'hello\n'.repeat(2000)),
      argv: ['--driver', 'duckdb', '--path', 'text.duckdb'],
      code: 2,
    },
    { what: 'sqlite: a missing file', argv: ['--driver', 'sqlite', '--path', 'none.db'], code: 2 },
    {
      what: 'sqlite: 0 bytes',
      prepare: (cwd) => writeFileSync(join(cwd, 'zero.db'), ''),
      argv: ['--driver', 'sqlite', '--path', 'zero.db'],
      code: 2,
    },
    {
      what: 'sqlite: no database',
      prepare: (cwd) => writeFileSync(join(cwd, 'text.db'), 'hello\n'.repeat(2000)),
      argv: ['--driver', 'sqlite', '--path', 'text.db'],
      code: 2,
    },
    { what: 'sqlite: a folder', argv: ['--driver', 'sqlite', '--path', '.'], code: 2 },
    {
      what: 'postgres: a wrong password',
      env: () => withPassword('wrong'),
      argv: ['--driver', 'postgres', '--url', 'env:KTX_TEST_URL'],
      code: 4,
    },
    {
      what: 'postgres: nobody listens',
      env: () => 'postgresql://u:p@127.0.0.1:9/d',
      argv: ['--driver', 'postgres', '--url', 'env:KTX_TEST_URL'],
      code: 1,
    },
    {
      what: 'postgres: no such host',
      env: () => 'postgresql://u:p@host.invalid/d',
      argv: ['--driver', 'postgres', '--url', 'env:KTX_TEST_URL'],
      code: 1,
    },
    {
      what: 'postgres: no such database',
      env: () => Object.assign(url(), { pathname: '/none' }).href,
      argv: ['--driver', 'postgres', '--url', 'env:KTX_TEST_URL'],
      code: 2,
    },
    {
      what: 'postgres: a secret that is not set',
      argv: ['--driver', 'postgres', '--url', 'env:KTX_TEST_NOT_SET'],
      code: 2,
    },
    {
      what: 'postgres: a secret written out',
      argv: ['--driver', 'postgres', '--url', 'postgresql://u:hunter2@h/d'],
      code: 2,
    },
    {
      what: 'a setting of another driver',
      argv: ['--driver', 'sqlite', '--url', 'env:KTX_TEST_URL'],
      code: 2,
    },
    { what: 'an unknown driver', argv: ['--driver', 'oracle'], code: 2 },
    { what: 'a missing setting', argv: ['--driver', 'sqlite'], code: 2 },
    {
      what: 'a name that cannot be a path',
      argv: ['--driver', 'sqlite', '--path', 'x.db', '--name', '../up'],
      code: 2,
    },
  ];

  test.each(cases)(
    '$what: a message with a next step, and nothing is written',
    async ({ prepare, env, argv, code }) => {
      const cwd = folder();
      prepare?.(cwd);
      vi.stubEnv('KTX_TEST_URL', env?.() ?? 'postgresql://u@h/d');
      const before = readdirSync(cwd);
      const { envelope, ...result } = await ktxJson(['setup', ...argv], { cwd });
      expect({
        code: result.code,
        hint: typeof envelope.error?.hint,
        written: readdirSync(cwd),
        error: envelope.error?.code,
      }).toEqual({
        code,
        hint: 'string',
        written: before,
        error: expect.not.stringMatching('internal'),
      });
      expect(JSON.stringify(envelope)).not.toMatch(/hunter2|test-password|    at /);
      const human = await ktx(['setup', ...argv], { cwd });
      expect(human).toMatchObject({ code, stdout: '' });
      // On a slow machine the line of progress comes first.
      expect(human.stderr.replaceAll(/^… .*\n/gm, '')).toMatch(/^error: .+\n {2}next: /);
      vi.unstubAllEnvs();
    },
  );

  test.each([
    {
      what: 'a wrong password',
      url: () => withPassword('wrong'),
      code: 4,
      error: 'warehouse_auth',
    },
    { what: 'a variable that is not set', url: () => '', code: 2, error: 'secret_missing' },
  ])('status says $what as it is', async ({ url: given, ...expected }) => {
    const cwd = folder();
    vi.stubEnv('KTX_TEST_URL', given());
    writeFileSync(
      join(cwd, 'ktx.yaml'),
      'connections: {pg: {driver: postgres, url: env:KTX_TEST_URL}}\n',
    );
    const { code, envelope } = await ktxJson(['status'], { cwd });
    expect({ code, error: envelope.error?.code }).toEqual({
      code: expected.code,
      error: expected.error,
    });
    expect(envelope.error?.message).toMatch(/^pg: /);
    vi.unstubAllEnvs();
  });

  test('an empty database works and says that it is empty', async () => {
    const cwd = folder();
    const db = new DatabaseSync(join(cwd, 'empty.db'));
    db.exec('CREATE TABLE t (a); DROP TABLE t');
    db.close();
    const { code, stdout, stderr } = await ktx(
      ['setup', '--driver', 'sqlite', '--path', 'empty.db'],
      { cwd },
    );
    expect({ code, stdout }).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('0 tables'),
    });
    expect(stderr).toContain('This login cannot see any tables');
    expect((await ktx(['scan'], { cwd })).stderr).not.toContain('ktx ingest');
    for (const argv of [['scan'], ['ingest']]) {
      expect(await ktxJson(argv, { cwd })).toMatchObject({
        code: 1,
        envelope: { error: { code: 'no_tables', hint: expect.stringContaining('schemas') } },
      });
    }
    expect(existsSync(join(cwd, 'semantic-layer'))).toBe(false);
  });

  test('a warehouse that went away: status, doctor, scan, ingest and queries say so', async () => {
    const cwd = await shopProject();
    await ktx(['ingest'], { cwd });
    writeFileSync(
      join(cwd, 'ktx.yaml'),
      readFileSync(join(cwd, 'ktx.yaml'), 'utf8').replace('shop.db', 'gone.db'),
    );
    for (const [code, ...argv] of [
      [2, 'status'],
      [1, 'doctor'],
      [2, 'scan'],
      [2, 'ingest'],
      [2, 'sql', 'SELECT 1'],
      [2, 'sl', 'query', '-m', 'orders.count'],
    ] as const) {
      const result = await ktxJson(argv, { cwd });
      const { ok, error } = result.envelope;
      expect({ argv, code: result.code, ok, error: error?.code }).toEqual({
        argv,
        code,
        ok: false,
        error: expect.not.stringMatching('internal'),
      });
      expect(error?.hint).toBeTruthy();
    }
    expect(await ktxJson(['status', '--fast'], { cwd })).toMatchObject({ code: 0 });
  });
});

test('names have no schema where only one schema has tables, whichever it is', async () => {
  const cwd = folder();
  await duckdbFile(cwd, 'CREATE SCHEMA analytics; CREATE TABLE analytics.orders (id INTEGER);');
  const setup = ['setup', '--driver', 'duckdb', '--path', 'warehouse.duckdb'];
  const { stderr } = await ktx(setup, { cwd });
  expect(stderr).toContain('schemas in ktx.yaml: analytics. Its tables have names without');
  await ktx(['ingest'], { cwd });
  expect(existsSync(join(cwd, 'semantic-layer/warehouse/orders.yaml'))).toBe(true);
});

test('where several schemas have tables, setup says how names lose the schema', async () => {
  const cwd = folder();
  await duckdbFile(
    cwd,
    'CREATE SCHEMA analytics; CREATE TABLE analytics.orders (id INTEGER); CREATE SCHEMA raw; CREATE TABLE raw.orders (id INTEGER);',
  );
  const setup = ['setup', '--driver', 'duckdb', '--path', 'warehouse.duckdb'];
  const { stderr } = await ktx(setup, { cwd });
  expect(stderr).toContain('like analytics__orders. For names without it');
  expect(readFileSync(join(cwd, 'ktx.yaml'), 'utf8')).not.toContain('schemas');
  await ktx(['ingest'], { cwd });
  expect(existsSync(join(cwd, 'semantic-layer/warehouse/analytics__orders.yaml'))).toBe(true);
});

test('a command to type next stays in one line of a narrow terminal', async () => {
  const cwd = join(folder(), 'a-folder-with-a-name-that-is-longer-than-most-names-of-folders');
  mkdirSync(cwd);
  shopDatabase(join(cwd, 'shop.db'));
  const place = ['--driver', 'sqlite', '--path', 'shop.db', '--project-dir', cwd];
  const argv = ['setup', ...place, '--llm-backend', 'none', '--no-ingest', '--mcp-client', 'none'];
  const { stderr } = await ktx([...argv, '--no-color'], { cwd, terminal: true });
  expect(stderr).toMatch(
    /^next {2}.* --project-dir \S+ ingest warehouse\n {8}finds keys and joins, writes the semantic layer$/m,
  );
});
