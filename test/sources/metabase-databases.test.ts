import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { metabaseConfigSchema } from '../../src/sources/metabase/config.ts';
import { matchWarehouses } from '../../src/sources/metabase/look/match-databases.ts';
import { addSource } from '../../src/project/setup/add-source.ts';
import { ktx } from '../cli/run-cli.ts';
import { apiKey, startMetabase } from '../recorded/metabase/server.ts';
import { temporaryFolder, write } from '../store/git-project.ts';

describe('the databases of Metabase', () => {
  const places = [
    { connection: 'shop', driver: 'postgres', host: 'DB.example.com.', database: 'shop' },
    { connection: 'copy', driver: 'mysql', host: 'db.example.com', database: 'shop' },
    { connection: 'here', driver: 'postgres', host: 'localhost', database: 'shop' },
    { connection: 'crm', driver: 'trino', host: 'trino.example.com', database: 'crm' },
  ];
  test.each([
    ['the same host and database', 'postgres', 'db.example.com', 'shop', ['shop']],
    ['another database there', 'postgres', 'db.example.com', 'shop_old', []],
    ['a database of that name on another host', 'postgres', 'db2.example.com', 'shop', []],
    ['no host', 'postgres', null, 'shop', []],
    ['the machine of Metabase itself', 'postgres', 'localhost', 'shop', []],
    ['another engine on the host', 'mysql', 'db.example.com', 'shop', ['copy']],
    ['an engine of another name', 'starburst', 'trino.example.com', 'crm', ['crm']],
  ])('are matched: %s', (...[, engine, host, dbname, connections]) => {
    expect(matchWarehouses({ engine, details: { host, dbname } }, places)).toEqual(connections);
  });

  test('are matched at the same port, where both say one', () => {
    const details = { host: 'db.example.com', dbname: 'shop' };
    const [shop] = places;
    const found = (ours: string | undefined, port?: number) =>
      matchWarehouses({ engine: 'postgres', details: { ...details, port: port ?? null } }, [
        { connection: 'shop', driver: 'postgres', host: shop?.host, port: ours, database: 'shop' },
      ]);
    expect(found('5433', 5432)).toEqual([]);
    expect(found('5433', 5433)).toEqual(['shop']);
    expect(found(undefined, 5432)).toEqual(['shop']);
    expect(found('5432')).toEqual(['shop']);
  });

  test('are matched with each warehouse in the same place, and with none without details', () => {
    const twin = {
      ...places[0],
      connection: 'shop_eu',
      driver: 'postgres',
      host: 'db.example.com',
    };
    const all = [...places, { ...twin, database: 'shop' }];
    const details = { host: 'db.example.com', dbname: 'shop' };
    expect(matchWarehouses({ engine: 'postgres', details }, all)).toEqual(['shop', 'shop_eu']);
    expect(matchWarehouses({ engine: 'postgres' }, all)).toEqual([]);
  });
});

describe('a database that is where a warehouse is', () => {
  const key = { METABASE_KEY: apiKey, SCRATCH_URL: 'postgres://ro:pw@db.fernholm.example/scratch' };
  let server: Awaited<ReturnType<typeof startMetabase>>;
  let dir: string;
  const settings = () => readFileSync(`${dir}/ktx.yaml`, 'utf8');
  const scratch = `database 7 Scratch (postgres at db.fernholm.example/scratch)`;

  beforeEach(async () => {
    server = await startMetabase();
    dir = temporaryFolder();
    write(dir, 'ktx.yaml', 'connections:\n  scratch: {driver: postgres, url: env:SCRATCH_URL}\n');
  });
  afterEach(() => server.close());

  const add = async (
    confirm?: Parameters<typeof addSource>[0]['confirm'],
    databases?: Readonly<Record<string, string>>,
  ) => {
    const env = { ...process.env, ...key };
    const place = { driver: 'postgres', host: 'db.fernholm.example', database: 'scratch' };
    const warehouses = [{ connection: 'scratch', ...place }];
    const api = { driver: 'metabase', base_url: server.url, api_key: 'env:METABASE_KEY' };
    const config = metabaseConfigSchema.parse({ ...api, ...(databases && { databases }) });
    return addSource(
      { dir, name: 'bi', config, env, warehouses, ...(confirm && { confirm }) },
      AbortSignal.timeout(60_000),
    );
  };

  test('is mapped when a person confirms it', async () => {
    const asked: string[] = [];
    const { probe } = await add(async (proposed) => {
      asked.push(...proposed.map(({ what, connection }) => `${what} → ${connection}`));
      return proposed;
    });
    expect(asked).toEqual([`${scratch} → scratch`]);
    expect(settings()).toMatch(/databases:\s*(?:\{ ?)?"7": scratch/);
    expect('sees' in probe && probe.sees).toContain(
      `${scratch.replace('database ', '')} → scratch`,
    );
  });

  test('joins those that are mapped, and the connection stays approved', async () => {
    await add(async (proposed) => proposed, { 3: 'scratch' });
    expect(settings()).toMatch(/"3": scratch[^]*"7": scratch/);
    const tested = await ktx(['connection', 'test', 'bi'], { cwd: dir, env: key });
    expect(tested.code, tested.stderr).toBe(0);
  });

  test('stays unmapped when a person says no, and when nobody is asked', async () => {
    await add(async () => []);
    expect(settings()).not.toContain('databases');
    const project = ['--project-dir', dir];
    const shown = await ktx(['connection', 'test', 'bi', ...project], { cwd: dir, env: key });
    expect(shown.stderr).toContain(
      `${scratch} is where scratch is (same host and database): write databases: {"7": scratch} into ktx.yaml`,
    );
    expect(shown.stdout + shown.stderr).not.toContain(':pw@');
  });
});
