import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type ExtraName, extraNames } from '../../src/store/extras/extra-list.ts';
import { startSqlserver } from '../engines/sqlserver/server.ts';
import { startCompany } from '../mcp/broker/company.ts';
import { makeClaudeHome } from '../support/claude-home.ts';
import { type ModelEndpoint, openModelEndpoint } from '../support/model-endpoint.ts';
import { say } from '../support/model-script.ts';
import {
  canFetch,
  cleanEnvironment,
  installPackedKtx,
  type PackedKtx,
} from '../support/packed-ktx.ts';
import { startPinnedRegistry } from '../support/pinned-registry.ts';
import { createDatabase } from '../support/postgres.ts';
import { freePort } from '../support/postgres-server.ts';

/** Without npm's registry nothing of this can be tried; the suite is reported as skipped. */
const isOnline = canFetch('pg-boss');
const model = 'claude-sonnet-4-6';
let endpoint: ModelEndpoint;
let packed: PackedKtx;

beforeAll(async () => {
  if (!isOnline) return;
  packed = await installPackedKtx();
  endpoint = await openModelEndpoint();
  endpoint.fallback = () => say('Forty-two.');
});
afterAll(async () => {
  packed?.remove();
  await endpoint?.close();
});

interface Locked {
  readonly version: string;
  readonly integrity: string;
  readonly optional?: boolean;
}
const lockOf = (folder: string, file = 'package-lock.json'): Record<string, Locked> => {
  const { packages } = JSON.parse(readFileSync(join(folder, file), 'utf8'));
  const entries = Object.entries(packages as Record<string, Locked>);
  return Object.fromEntries(entries.filter(([place]) => place !== ''));
};
const extrasFolder = (): string => join(packed.home, '.local/share/ktx/extras');
const installed = (): string[] =>
  existsSync(extrasFolder())
    ? readdirSync(extrasFolder()).filter((entry) => !entry.includes('.lock'))
    : [];

async function stateOf(name: ExtraName): Promise<unknown> {
  const { envelope } = await packed.runJson(['extras', 'list']);
  const { rows } = envelope.data as { readonly rows: readonly (readonly string[])[] };
  return rows.find(([extra]) => extra === name)?.[1];
}

/** A project of its own, which its person trusts. */
async function makeProject(name: string, yaml: string): Promise<string> {
  const cwd = mkdtempSync(join(packed.app, name));
  writeFileSync(join(cwd, 'ktx.yaml'), yaml);
  await packed.runJson(['trust', '--yes'], { cwd });
  return cwd;
}

/** What came of a first use: `works`, or the code of its error. */
type Use = () => Promise<string>;

const askOver =
  (provider: () => string, env: () => NodeJS.ProcessEnv = () => ({})): Use =>
  async () => {
    const yaml = `connections: {}\nllm:\n  provider: ${provider()}\n  models: {default: ${model}}\n`;
    const cwd = await makeProject('asking', yaml);
    const around = { cwd, env: { MODEL_KEY: 'made-up', ...env() } };
    const { envelope } = await packed.runJson(['ask', 'How many?'], around);
    return JSON.stringify(envelope.data ?? null).includes('Forty-two')
      ? 'works'
      : (envelope.error?.code ?? '');
  };

/** Uses the extra as a person would. Each needs it, and nothing else that is missing. */
const uses: Readonly<Record<ExtraName, Use>> = {
  anthropic: askOver(
    () =>
      `{backend: anthropic, anthropic: {api_key: env:MODEL_KEY, base_url: "${endpoint.url}/v1"}}`,
  ),
  openai: askOver(
    () => `{backend: openai, openai: {api_key: env:MODEL_KEY, base_url: "${endpoint.url}/v1"}}`,
  ),
  gateway: askOver(
    () =>
      `{backend: gateway, gateway: {api_key: env:MODEL_KEY, base_url: "${endpoint.url}/v4/ai"}}`,
  ),
  vertex: askOver(
    () =>
      `{backend: vertex, vertex: {project: test-project, location: global, base_url: "${endpoint.url}/models"}}`,
    () => ({
      GCE_METADATA_HOST: new URL(endpoint.url).host,
      METADATA_SERVER_DETECTION: 'assume-present',
      GOOGLE_CLOUD_PROJECT: 'test-project',
    }),
  ),
  // Its wire is binary, which the endpoint does not speak: it answers with an error.
  bedrock: async () => {
    const asked = endpoint.requests.length;
    const code = await askOver(
      () => `{backend: bedrock, bedrock: {region: eu-west-1, base_url: "${endpoint.url}"}}`,
      () => ({ AWS_ACCESS_KEY_ID: 'made-up', AWS_SECRET_ACCESS_KEY: 'made-up' }),
    )();
    return endpoint.requests.length > asked ? 'works' : code;
  },
  'claude-code': async () => {
    const machine = await makeClaudeHome(endpoint);
    try {
      const { PATH: _path, HOME: _home, USERPROFILE: _profile, ...env } = machine.env;
      return await askOver(
        () => '{backend: claude-code, program: bundled}',
        () => env,
      )();
    } finally {
      await machine.remove();
    }
  },
  async sqlserver() {
    const server = await startSqlserver({ script: 'CREATE TABLE orders AS FROM range(42)' });
    try {
      const keys = `host: 127.0.0.1, port: ${server.port}, database: memory, user: ktx_reader`;
      const cwd = await makeProject(
        'sqlserver',
        `connections:\n  lake: {driver: sqlserver, ${keys}, password: env:PASSWORD, ssl: off}\n`,
      );
      const around = { cwd, env: { PASSWORD: 'p' } };
      const { envelope } = await packed.runJson(['sql', 'SELECT count(*) FROM orders'], around);
      return JSON.stringify(envelope.data ?? null).includes('[[42]]')
        ? 'works'
        : (envelope.error?.code ?? '');
    } finally {
      await server.close();
    }
  },
  async broker() {
    const port = await freePort();
    const origin = `http://127.0.0.1:${port}`;
    await using company = await startCompany(`${origin}/oauth/callback`);
    const broker = '{client_id: ktx, client_secret: env:COMPANY_SECRET, clients: [client.example]}';
    const auth = `{mode: broker, issuer: "${company.issuer}", resource: "${origin}/mcp", broker: ${broker}}`;
    const cwd = await makeProject('broker', `connections: {}\nserve:\n  auth: ${auth}\n`);
    const argv = ['mcp', 'serve', '--http', '--port', String(port)];
    return untilReady(argv, { cwd, env: { COMPANY_SECRET: 'made-up' } }, async () => {
      const known = await fetch(`${origin}/.well-known/oauth-authorization-server`).catch(
        () => undefined,
      );
      return known?.status === 200;
    });
  },
  async queue() {
    const provider = `{backend: anthropic, anthropic: {api_key: env:MODEL_KEY, base_url: "${endpoint.url}/v1"}}`;
    const cwd = await makeProject(
      'queue',
      `connections: {}\nllm:\n  provider: ${provider}\n  models: {default: ${model}}\nserve: {state: env:STATE}\n`,
    );
    const env = { MODEL_KEY: 'made-up', STATE: await createDatabase('extras') };
    return untilReady(['worker'], { cwd, env }, async (said) => said.includes('Waiting for work'));
  },
};

/** Starts a command that does not end by itself, and ends it once it is ready. */
async function untilReady(
  argv: readonly string[],
  around: Parameters<PackedKtx['start']>[1],
  isReady: (said: string) => Promise<boolean>,
): Promise<string> {
  const child = packed.start(argv, around);
  let hasEnded = false;
  void child.ended.then(() => (hasEnded = true));
  await expect.poll(async () => hasEnded || isReady(child.said()), { timeout: 60_000 }).toBe(true);
  if (!hasEnded) {
    child.interrupt();
    await child.ended;
    return 'works';
  }
  return /\[(\w+)\]/.exec(child.said())?.[1] ?? child.said();
}

describe.skipIf(!isOnline)('extras of the packed ktx, in a clean folder and home', () => {
  // The worker asks a model as well, over the packages of another extra.
  const order: ExtraName[] = ['queue', ...extraNames.filter((name) => name !== 'queue')];

  test('the package has every extra, and none is installed', async () => {
    const { envelope } = await packed.runJson(['extras', 'list']);
    const { rows } = envelope.data as { readonly rows: readonly (readonly string[])[] };
    expect(rows.map(([name, state]) => [name, state])).toEqual(
      extraNames.map((name) => [name, 'not installed']),
    );
  });

  test.each(order)('%s: fetched from npm as pinned, used, and removed', async (name) => {
    if (name === 'queue') await packed.runJson(['extras', 'add', 'anthropic']);
    expect(await uses[name]()).toBe('extra_missing');
    const added = await packed.runJson(['extras', 'add', name]);
    expect(added.envelope).toMatchObject({ ok: true, data: { extra: name, state: 'installed' } });
    expect(await stateOf(name)).toBe('installed');
    const { folder } = added.envelope.data as { readonly folder: string };
    const pinned = lockOf(join(packed.packageFolder, 'extras', name));
    const found = lockOf(join(folder, 'node_modules'), '.package-lock.json');
    for (const [place, { version, integrity }] of Object.entries(found)) {
      expect([place, integrity]).toEqual([place, pinned[place]?.integrity]);
      const own = JSON.parse(readFileSync(join(folder, place, 'package.json'), 'utf8'));
      expect([place, own.version]).toEqual([place, version]);
    }
    // Packages for other platforms are left out.
    const needed = Object.keys(pinned).filter((place) => pinned[place]?.optional !== true);
    expect(Object.keys(found)).toEqual(expect.arrayContaining(needed));
    expect(await uses[name]()).toBe('works');
    await packed.runJson(['extras', 'remove', name]);
    expect(await stateOf(name)).toBe('not installed');
    expect(await uses[name]()).toBe('extra_missing');
    if (name === 'queue') await packed.runJson(['extras', 'remove', 'anthropic']);
    expect(installed()).toEqual([]);
  });
});

describe.skipIf(!isOnline)('an extra whose installation goes wrong', () => {
  const name = 'broker';
  let registry: Awaited<ReturnType<typeof startPinnedRegistry>>;
  let around: { readonly env: NodeJS.ProcessEnv };

  beforeAll(async () => {
    const lockFile = join(packed.packageFolder, 'extras', name, 'package-lock.json');
    registry = await startPinnedRegistry(lockFile, cleanEnvironment(packed.home));
  });
  afterAll(() => registry?.close());
  afterEach(() => packed.runJson(['extras', 'remove', name]));

  /** A cache of its own, so that every archive is asked for. */
  const useRegistry = (cache: string, url = registry.url): void => {
    const env = { npm_config_registry: url, npm_config_cache: join(packed.home, cache) };
    around = { env };
  };
  const add = () => packed.runJson(['extras', 'add', name], around);
  const messageOf = ({ envelope }: Awaited<ReturnType<typeof add>>): string =>
    `${envelope.error?.message} ${envelope.error?.hint}`;

  test('an archive with one changed byte is refused', async () => {
    onTestFinished(() => registry.tamper(undefined));
    useRegistry('tampered');
    registry.tamper('oidc-provider');
    const refused = await add();
    expect(refused.envelope.error?.code).toBe('extra_failed');
    expect(messageOf(refused)).toMatch(
      /what the registry sent is not what this version of ktx expects/,
    );
    expect(installed()).toEqual([]);
    registry.tamper(undefined);
    expect((await add()).code).toBe(0);
    expect(await uses[name]()).toBe('works');
  });

  test('without a registry it says so in a few lines, and leaves nothing', async () => {
    useRegistry('offline', `http://127.0.0.1:${await freePort()}/`);
    const refused = await add();
    expect(refused.envelope.error).toMatchObject({ code: 'extra_failed', retryable: true });
    expect(messageOf(refused)).toMatch(
      /^The extra broker could not be fetched: the registry of npm cannot be reached\. .+ Check the network/,
    );
    expect(messageOf(refused)).not.toContain('\n');
    expect(installed()).toEqual([]);
  });

  test('ktx that is killed half-way leaves nothing that counts, and the next one goes on', async () => {
    useRegistry('killed');
    const release = registry.holdArchives();
    const isAsked = registry.nextAsked();
    const killed = packed.start(['extras', 'add', name], around);
    await isAsked;
    killed.kill();
    await killed.ended;
    expect(installed()).toEqual([expect.stringMatching(/^broker-[0-9a-f]{10}\.[0-9a-f]{8}$/)]);
    expect(await stateOf(name)).toBe('not installed');
    expect(await uses[name]()).toBe('extra_missing');
    // npm of the killed one still waits for its archives, and gets them together with the next.
    const isAskedAgain = registry.nextAsked();
    const next = add();
    await isAskedAgain.finally(release);
    expect((await next).code).toBe(0);
    expect(await uses[name]()).toBe('works');
    const folders = installed().filter((entry) => !entry.includes('.'));
    expect(folders).toHaveLength(1);
  });

  test('a second process waits for the first, fetches nothing, and has it', async () => {
    useRegistry('two');
    const before = registry.asked.length;
    const release = registry.holdArchives();
    const isAsked = registry.nextAsked();
    const first = packed.start(['extras', 'add', name], around);
    await isAsked;
    const second = packed.start(['extras', 'add', name], around);
    await expect
      .poll(() => second.said(), { timeout: 30_000 })
      .toMatch(/Another ktx \(process \d+, since .+\) is fetching or removing the extra broker/)
      .finally(release);
    const [one, other] = await Promise.all([first.ended, second.ended]);
    expect([one.code, other.code]).toEqual([0, 0]);
    expect(other.stdout).toBe(one.stdout);
    const archives = registry.asked.slice(before);
    expect(archives.length).toBeGreaterThan(10);
    expect(archives).toHaveLength(new Set(archives).size);
    expect(installed()).toHaveLength(1);
    expect(await uses[name]()).toBe('works');
  });
});
