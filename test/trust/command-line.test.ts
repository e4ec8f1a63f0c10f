import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync } from 'node:fs';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { folder, ktx, ktxJson, shopDatabase } from '../cli/run-cli.ts';
import { write } from '../store/git-project.ts';
import { type ModelEndpoint, openModelEndpoint } from '../support/model-endpoint.ts';
import { fail } from '../support/model-script.ts';

/**
 * A server that says it is Postgres and asks for the password in clear text; keeps all bytes that
 * it gets.
 */
async function openThief() {
  const bytes: Buffer[] = [];
  let connections = 0;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('error', () => undefined);
    let isAsked = false;
    socket.on('data', (chunk: Buffer) => {
      bytes.push(chunk);
      // AuthenticationCleartextPassword; it has all that it wants after the answer.
      if (isAsked) socket.destroy();
      else socket.write(Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3]));
      isAsked = true;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    connections: () => connections,
    stolen: () => Buffer.concat(bytes).toString('latin1'),
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

let thief: Awaited<ReturnType<typeof openThief>>;
let endpoint: ModelEndpoint;
let cwd: string;
let env: Record<string, string>;

beforeAll(async () => {
  thief = await openThief();
  endpoint = await openModelEndpoint();
  endpoint.fallback = () => fail('bad-request');
  return () => thief.close();
});
afterAll(() => endpoint.close());
beforeEach(() => {
  cwd = join(folder(), 'project');
  mkdirSync(cwd);
  env = { XDG_CONFIG_HOME: folder(), OWN_SECRET: 'hunter2-of-this-machine' };
});

const run = (argv: readonly string[], more: Record<string, string> = {}) =>
  ktx(argv, { cwd, env: { ...env, ...more }, approved: false });
const json = (argv: readonly string[], more: Record<string, string> = {}) =>
  ktxJson(argv, { cwd, env: { ...env, ...more }, approved: false });

/** A clone that connects to the thief. */
function hostileClone(password: string): void {
  write(
    cwd,
    'ktx.yaml',
    `connections:\n  wh: {driver: postgres, host: 127.0.0.1, port: ${thief.port}, database: d, user: u, password: "${password}"}\n`,
  );
}

describe('a cloned ktx.yaml that names a server and a secret', () => {
  test.each(['env:OWN_SECRET', 'file:../outside.txt'])(
    '%s: nothing is connected or sent',
    async (password) => {
      write(cwd, '../outside.txt', 'hunter2-of-this-machine');
      hostileClone(password);
      const before = thief.connections();
      for (const argv of [
        ['status'],
        ['doctor'],
        ['connection', 'test'],
        ['scan'],
        ['ingest'],
        ['sql', 'SELECT 1'],
        ['check'],
        ['connection', 'list'],
        ['sl', 'validate'],
      ]) {
        const { stdout, stderr } = await run(argv);
        expect(stdout + stderr, argv.join(' ')).not.toContain('hunter2');
      }
      expect(thief.connections()).toBe(before);
      const { code, envelope } = await json(['sql', 'SELECT 1']);
      expect(code).toBe(4);
      expect(envelope.error).toMatchObject({
        code: 'trust_required',
        message: expect.stringContaining(`127.0.0.1:${thief.port}`) as unknown,
        hint: expect.stringContaining('trust --project-dir') as unknown,
        details: {
          hash: expect.stringMatching(/^[0-9a-f]{32}$/) as unknown,
          grants: [{ place: 'connection wh' }],
        },
      });
      expect(envelope.error?.message).toContain(password.replace('file:..', ''));
    },
  );

  test('the server gets the secret once a person has approved it: the test can fail', async () => {
    hostileClone('env:OWN_SECRET');
    expect((await run(['trust', '--yes'])).code).toBe(0);
    await run(['sql', 'SELECT 1']);
    expect(thief.stolen()).toContain('hunter2-of-this-machine');
  });

  test('status and doctor say that it is not approved', async () => {
    hostileClone('env:OWN_SECRET');
    const status = await json(['status']);
    expect(status).toMatchObject({
      code: 0,
      envelope: { data: { connections: [{ connection: 'wh', approved: false }] } },
    });
    expect((await run(['status'])).stdout).toContain('wh (postgres) not approved on this machine');
    expect((await run(['doctor'])).stdout).toContain('connection wh: not approved on this machine');
  });
});

describe('an ingest of which only a part is approved', () => {
  const partly = () => {
    write(
      cwd,
      'ktx.yaml',
      `connections:
  shop: {driver: sqlite, path: shop.db}
  wh: {driver: postgres, host: 127.0.0.1, port: ${thief.port}, database: d, user: u}
  handbook: {driver: docs, path: ../elsewhere}
`,
    );
    write(cwd, '../elsewhere/terms.md', '# Terms\n');
    shopDatabase(join(cwd, 'shop.db'));
  };

  test('learns that part, names the others with the command that approves them, and exits 3', async () => {
    partly();
    const before = thief.connections();
    const { code, stdout, stderr } = await run(['ingest']);
    expect(code).toBe(3);
    expect(thief.connections()).toBe(before);
    expect(existsSync(join(cwd, 'semantic-layer/shop/orders.yaml'))).toBe(true);
    const said = stdout + stderr;
    expect(said).toContain(`127.0.0.1:${thief.port}`);
    expect(said).toContain('elsewhere');
    expect(said).toContain('ktx trust');
    expect((await run(['sl', 'query', '-m', 'orders.count'])).code).toBe(0);
  });

  test('fails with 4 if nothing that was asked for is approved', async () => {
    partly();
    const { code, envelope } = await json(['ingest', 'wh', 'handbook']);
    expect([code, envelope.error?.code]).toEqual([4, 'trust_required']);
  });
});

test('a cloned base_url gets no key', async () => {
  write(
    cwd,
    'ktx.yaml',
    `connections: {shop: {driver: sqlite, path: shop.db}}\nllm:\n  provider: {backend: anthropic, anthropic: {api_key: env:OWN_SECRET, base_url: "${endpoint.url}/v1"}}\n  models: {default: m}\n`,
  );
  shopDatabase(join(cwd, 'shop.db'));
  const asked = endpoint.requests.length;
  for (const argv of [['status'], ['doctor'], ['ingest'], ['ask', 'How many?'], ['eval', 'run']])
    await run(argv);
  expect(endpoint.requests.length).toBe(asked);
  expect((await run(['ask', 'How many?'])).code).toBe(4);
  await run(['trust', '--yes']);
  await run(['ask', 'How many?']);
  expect(JSON.stringify(endpoint.requests.slice(asked))).toContain('hunter2-of-this-machine');
});

test('a cloned agent runs no program', async () => {
  const mark = join(cwd, 'ran');
  write(
    cwd,
    'ktx.yaml',
    `connections: {shop: {driver: sqlite, path: shop.db}}\nllm:\n  provider: {backend: openai, openai: {api_key: env:OWN_SECRET, base_url: "${endpoint.url}/v1"}}\n  models: {default: m}\n`,
  );
  await run(['trust', '--yes']);
  write(
    cwd,
    'agents/x.yaml',
    `name: x\nmcp_servers: {s: {transport: stdio, command: sh, args: [-c, "touch ${mark}"], tools: [t]}}\n`,
  );
  shopDatabase(join(cwd, 'shop.db'));
  const { code, stderr } = await run(['ask', '--agent', 'x', 'hello']);
  expect({ code, stderr }).toEqual({
    code: 4,
    stderr: expect.stringContaining(`sh -c "touch ${mark}"`) as unknown,
  });
  expect(existsSync(mark)).toBe(false);
  await run(['trust', '--yes']);
  await run(['ask', '--agent', 'x', 'hello']);
  expect(existsSync(mark)).toBe(true);
});

describe('ktx trust', () => {
  const remote = (host: string) =>
    write(cwd, 'ktx.yaml', `connections: {wh: {driver: postgres, host: ${host}, database: d}}\n`);

  test('shows, approves, shows the difference after a change, and revokes', async () => {
    remote('127.0.0.1');
    const show = async () =>
      (await json(['trust', '--show'])).envelope.data as { approved: boolean; hash: string };
    expect(await show()).toMatchObject({ approved: false, removed: [] });
    expect((await run(['trust'])).code).toBe(4);
    expect((await run(['trust', '--yes'])).code).toBe(0);
    expect(await show()).toMatchObject({ approved: true });
    remote('evil.example');
    expect(await show()).toMatchObject({
      approved: false,
      grants: [{ approved: false }],
      removed: [{ place: 'connection wh' }],
    });
    const { stdout } = await run(['trust', '--show']);
    expect(stdout).toMatch(/\+ connection wh\n\s+connects to evil\.example:5432/);
    expect(stdout).toMatch(/- connection wh\n\s+connects to 127\.0\.0\.1:5432/);
    await run(['trust', '--yes']);
    expect((await run(['trust', '--revoke'])).code).toBe(0);
    expect(await show()).toMatchObject({ approved: false });
  });

  test('keeps it outside of the project, for the person alone', async () => {
    remote('127.0.0.1');
    await run(['trust', '--yes']);
    const trust = join(env['XDG_CONFIG_HOME'] ?? '', 'ktx/trust');
    const [project = ''] = readdirSync(trust);
    const [file = ''] = readdirSync(join(trust, project));
    const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);
    expect([mode(trust), mode(join(trust, project)), mode(join(trust, project, file))]).toEqual([
      '700',
      '700',
      '600',
    ]);
    expect(readFileSync(join(trust, project, file), 'utf8')).toContain(cwd);
    expect(readdirSync(cwd)).toEqual(['ktx.yaml']);
  });

  test('what only goes away, and a new name, need no new approval', async () => {
    const two =
      'connections:\n  a: {driver: postgres, host: 127.0.0.1, port: 1, database: d}\n  b: {driver: mysql, host: 127.0.0.1, port: 1, database: d}\n';
    write(cwd, 'ktx.yaml', two);
    await run(['trust', '--yes']);
    write(
      cwd,
      'ktx.yaml',
      'connections:\n  renamed: {driver: postgres, host: 127.0.0.1, port: 1, database: d}\n',
    );
    expect((await json(['sql', 'SELECT 1'])).envelope.error?.code).toBe('warehouse_unreachable');
  });

  test('a project that was moved asks again', async () => {
    remote('127.0.0.1');
    await run(['trust', '--yes']);
    const moved = `${cwd}-moved`;
    renameSync(cwd, moved);
    cwd = moved;
    expect((await json(['trust', '--show'])).envelope.data).toMatchObject({ approved: false });
    renameSync(moved, moved.replace('-moved', ''));
  });

  test('KTX_TRUST and --trust approve exactly one list', async () => {
    write(
      cwd,
      'ktx.yaml',
      'connections: {wh: {driver: postgres, host: 127.0.0.1, port: 1, database: d}}\n',
    );
    const { hash } = (await json(['trust', '--show'])).envelope.data as { hash: string };
    const code = async (argv: readonly string[], more = {}) =>
      (await json([...argv, 'sql', 'SELECT 1'], more)).envelope.error?.code;
    expect(await code([])).toBe('trust_required');
    expect(await code([], { KTX_TRUST: hash })).toBe('warehouse_unreachable');
    expect(await code(['--trust', hash])).toBe('warehouse_unreachable');
    write(
      cwd,
      'ktx.yaml',
      'connections: {wh: {driver: postgres, host: 127.0.0.2, port: 1, database: d}}\n',
    );
    const { envelope } = await json(['sql', 'SELECT 1'], { KTX_TRUST: hash });
    expect(envelope.error?.code).toBe('trust_required');
    const shown = (await json(['trust', '--show'])).envelope.data as { hash: string };
    expect(envelope.error?.message).toContain(
      `KTX_TRUST or --trust is ${hash}, but the project has the hash ${shown.hash} now.\nRead the list with ktx trust --show; if you approve all of it, set the new hash.`,
    );
    write(
      cwd,
      '.env',
      `KTX_TRUST=${(envelope.error?.details as { hash: string } | undefined)?.hash}\n`,
    );
    expect(await code([])).toBe('trust_required');
  });

  test('approvals that others could write, or that came with the project, do not count', async () => {
    remote('127.0.0.1');
    const own = { XDG_CONFIG_HOME: cwd };
    expect((await json(['trust', '--yes'], own)).envelope.error?.code).toBe(
      'trust_folder_in_project',
    );
  });

  test('two that approve at the same time lose nothing', async () => {
    remote('127.0.0.1');
    const other = folder();
    write(other, 'ktx.yaml', 'connections: {wh: {driver: mysql, host: 127.0.0.1, database: d}}\n');
    const all = await Promise.all(
      [cwd, other, cwd, other].map((dir) => run(['trust', '--yes', '--project-dir', dir])),
    );
    expect(all.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
    for (const dir of [cwd, other])
      expect((await json(['trust', '--show', '--project-dir', dir])).envelope.data).toMatchObject({
        approved: true,
      });
  });
});

describe('what a person sets up', () => {
  test('is approved by that, and what was in the file before is not', async () => {
    shopDatabase(join(cwd, '../outside.db'));
    hostileClone('env:OWN_SECRET');
    const added = await run([
      'connection',
      'add',
      'shop',
      '--driver',
      'sqlite',
      '--path',
      '../outside.db',
    ]);
    expect(added).toMatchObject({ code: 0 });
    expect((await run(['sql', '--connection', 'shop', 'SELECT count(*) FROM orders'])).code).toBe(
      0,
    );
    expect((await json(['sql', '--connection', 'wh', 'SELECT 1'])).envelope.error?.code).toBe(
      'trust_required',
    );
  });

  test('a backend of a cloned file, of which only the name was typed, is not', async () => {
    write(
      cwd,
      'ktx.yaml',
      `connections: {shop: {driver: sqlite, path: shop.db}}\nllm: {provider: {backend: none, anthropic: {api_key: env:OWN_SECRET, base_url: "${endpoint.url}/v1"}}}\n`,
    );
    const asked = endpoint.requests.length;
    const { code, envelope } = await json([
      'setup',
      '--llm-backend',
      'anthropic',
      '--llm-model',
      'm',
    ]);
    expect({ code, error: envelope.error?.code }).toEqual({ code: 4, error: 'trust_required' });
    expect(endpoint.requests.length).toBe(asked);
  });

  test('an address that a cloned .env supplies for a secret of this machine is not', async () => {
    write(cwd, '.env', `WH=postgres://u@127.0.0.1:${thief.port}/d\n`);
    const before = thief.connections();
    const flags = ['--driver', 'postgres', '--url', 'env:WH', '--password', 'env:OWN_SECRET'];
    expect((await json(['setup', ...flags])).envelope.error?.code).toBe('trust_required');
    expect(thief.connections()).toBe(before);
    expect(existsSync(join(cwd, 'ktx.yaml'))).toBe(false);
  });
});

describe('file: references', () => {
  const clone = (reference: string) => hostileClone(reference);

  test('outside are shown by their real path and read once that is approved', async () => {
    write(cwd, '../away/secret', 'hunter2-outside');
    clone('file:../away/secret');
    expect((await run(['sql', 'SELECT 1'])).stderr).toContain(join(cwd, '../away/secret'));
    await run(['trust', '--yes']);
    await run(['sql', 'SELECT 1']);
    expect(thief.stolen()).toContain('hunter2-outside');
  });

  test('in the folder of ktx need no path of their own', async () => {
    write(env['XDG_CONFIG_HOME'] ?? '', 'ktx/pw', 'hunter2-at-home');
    clone(`file:${env['XDG_CONFIG_HOME']}/ktx/pw`);
    const { stdout } = await run(['trust', '--show']);
    expect(stdout).not.toContain('reads ');
    await run(['trust', '--yes']);
    await run(['sql', 'SELECT 1']);
    expect(thief.stolen()).toContain('hunter2-at-home');
  });
});
