import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { registry } from '../../src/cli/registry.ts';
import { usageRecorder, usageReport } from '../../src/llm/governor/usage.ts';
import { openJournal } from '../../src/store/journal.ts';
import { hasSlowCases } from '../slow-suites.ts';
import { claudeBinary, makeClaudeHome, type ClaudeHome } from '../support/claude-home.ts';
import { describing } from '../support/describing-model.ts';
import { openModelEndpoint, type ModelEndpoint } from '../support/model-endpoint.ts';
import { fail } from '../support/model-script.ts';
import { seededVariables } from '../support/provider-variables.ts';
import { envelopeSchema, folder, ktx as runKtx, shopDatabase } from './run-cli.ts';

let endpoint: ModelEndpoint;
let session: ClaudeHome;
let nobody: ClaudeHome;

beforeAll(async () => {
  endpoint = await openModelEndpoint();
  [session, nobody] = await Promise.all([
    makeClaudeHome(endpoint),
    makeClaudeHome(endpoint, { session: false }),
  ]);
});
afterAll(async () => {
  await Promise.all([session.remove(), nobody.remove()]);
  await endpoint.close();
});

/** The command line of a machine with this environment, in this process. */
function ktx(argv: readonly string[], cwd: string, env: NodeJS.ProcessEnv = session.env) {
  const set = Object.entries(env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return runKtx(argv, {
    cwd,
    env: { ...Object.fromEntries(set), TEST_KEY: 'sk-made-up' },
    isWholeEnv: true,
  });
}

async function json(argv: readonly string[], cwd: string, env?: NodeJS.ProcessEnv) {
  const { code, stdout } = await ktx([...argv, '--json'], cwd, env);
  return {
    code,
    envelope: envelopeSchema.parse(JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '')),
  };
}

/** A folder with a database, and a `ktx.yaml` on it with this `llm` section. */
function project(llm = ''): string {
  const dir = folder();
  shopDatabase(join(dir, 'shop.sqlite'));
  writeFileSync(
    join(dir, 'ktx.yaml'),
    `# mine\nconnections:\n  shop: {driver: sqlite, path: shop.sqlite}\n${llm}`,
  );
  return dir;
}

const yaml = (dir: string): string => readFileSync(join(dir, 'ktx.yaml'), 'utf8');
const anthropic = () => ['--llm-api-key', 'env:TEST_KEY', '--llm-base-url', `${endpoint.url}/v1`];
const loggedOut = /Claude Code.*(?:log in|authenticate)/is;

describe('ktx setup --llm-backend', () => {
  test('writes an API backend that answered; the rest of ktx.yaml stays, no key is kept [E14]', async () => {
    endpoint.fallback = describing;
    const dir = project('llm:\n  promptCaching: {systemTtl: 5m}\n');
    const { code, envelope } = await json(
      ['setup', '--llm-backend', 'anthropic', ...anthropic()],
      dir,
    );
    expect(code).toBe(0);
    expect(envelope.data).toMatchObject({
      llm: {
        backend: 'anthropic',
        models: { default: 'claude-sonnet-4-6' },
        written: ['ktx.yaml'],
      },
    });
    expect(yaml(dir)).toContain('# mine');
    expect(yaml(dir)).toContain('promptCaching: {systemTtl: 5m}');
    expect(yaml(dir)).toMatch(/backend: anthropic[^]*api_key: env:TEST_KEY/);
    const before = yaml(dir);
    expect(
      (await json(['setup', '--llm-backend', 'anthropic', ...anthropic()], dir)).envelope.data,
    ).toMatchObject({
      llm: { written: [] },
    });
    expect(yaml(dir)).toBe(before);
    const files = globSync('**/*', { cwd: dir, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    );
    const holding = files.filter(({ parentPath, name }) =>
      readFileSync(join(parentPath, name)).includes('sk-made-up'),
    );
    expect(files.length).toBeGreaterThan(1);
    expect(holding.map(({ name }) => name)).toEqual([]);
    // Tokens and logins of ktx's own server let others in; no command keeps a login of a model.
    const logins = registry
      .map(({ path }) => path)
      .filter((path) => /log ?in|auth|token/.test(path));
    expect(logins.filter((path) => !/^mcp (?:token|login) /.test(path))).toEqual([]);
  });

  test('writes nothing where the probe fails [U4]', async () => {
    endpoint.fallback = () => fail('auth');
    const dir = project();
    const before = yaml(dir);
    const { code, stderr } = await ktx(
      ['setup', '--llm-backend', 'anthropic', ...anthropic()],
      dir,
    );
    expect({ code, stderr }).toEqual({ code: 4, stderr: expect.stringContaining('[llm_auth]') });
    expect(stderr).toContain(`check that env:TEST_KEY contains a valid key for ${endpoint.url}/v1`);
    expect(yaml(dir)).toBe(before);
    const fresh = folder();
    shopDatabase(join(fresh, 'shop.sqlite'));
    const both = [
      'setup',
      '--driver',
      'sqlite',
      '--path',
      'shop.sqlite',
      '--llm-backend',
      'anthropic',
      ...anthropic(),
    ];
    expect((await ktx(both, fresh)).code).toBe(4);
    expect(existsSync(join(fresh, 'ktx.yaml'))).toBe(false);
  });

  test('makes a project with a warehouse and a model at once', async () => {
    endpoint.fallback = describing;
    const dir = folder();
    shopDatabase(join(dir, 'shop.sqlite'));
    const both = [
      'setup',
      '--driver',
      'sqlite',
      '--path',
      'shop.sqlite',
      '--llm-backend',
      'anthropic',
      '--llm-preset',
      'economical',
      ...anthropic(),
    ];
    expect((await ktx(both, dir)).code).toBe(0);
    expect(yaml(dir)).toMatch(/driver: sqlite[^]*backend: anthropic[^]*default: claude-haiku/);
  });

  test('refuses what is not complete, in words [U9]', async () => {
    const dir = project();
    const said = async (...flags: string[]) => {
      const { code, stderr } = await ktx(['setup', '--no-input', ...flags], dir);
      return `${code} ${stderr}`;
    };
    expect(await said('--llm-model', 'sonnet')).toMatch(/^2 .*--llm-backend is missing/);
    expect(await said('--llm-backend', 'openai')).toMatch(/^2 .*--llm-model is missing/);
    expect(await said('--llm-backend', 'claude-code', '--llm-api-key', 'env:X')).toMatch(
      /^2 .*--llm-api-key does not apply to claude-code/,
    );
    expect(await said('--llm-backend', 'claude-code', '--llm-model', 'gpt-5')).toMatch(
      /^2 .*gpt-5 .*sonnet/,
    );
    expect(await said('--llm-backend', 'anthropic')).toMatch(
      /^2 .*--llm-api-key is missing[^]*--llm-api-key env:ANTHROPIC_API_KEY/,
    );
    expect(await said('--llm-backend', 'bedrock', '--llm-model', 'm')).toMatch(
      /^2 .*--llm-region is missing/,
    );
    expect(
      await said('--llm-backend', 'anthropic', '--llm-api-key', 'sk-ant-literal'),
    ).not.toContain('sk-ant-literal');
    expect(yaml(dir)).not.toContain('llm');
  });

  test.skipIf(claudeBinary() === undefined || !hasSlowCases)(
    'takes the local Claude Code session, with sonnet where no model is named [U1 U2 U3 U5]',
    async () => {
      endpoint.fallback = describing;
      const dir = project('llm:\n  promptCaching: {cacheTools: true}\n');
      const { code, stdout, stderr } = await ktx(['setup', '--llm-backend', 'claude-code'], dir);
      expect({ code, stdout }).toEqual({
        code: 0,
        stdout: expect.stringContaining('claude-code answers'),
      });
      expect(stderr).toMatch(/ignored: .*cacheTools/);
      expect(yaml(dir)).toMatch(/promptCaching: \{cacheTools: true\}/);
      expect(yaml(dir)).toMatch(/backend: claude-code[^]*default: sonnet/);
    },
  );
});

test('no model is no promise of descriptions', async () => {
  const { code, stderr } = await ktx(['setup', '--llm-backend', 'none'], project());
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: expect.not.stringMatching(/describe|who answers/),
  });
});

describe('readiness', () => {
  test('without a model everything else is green, and one line says what one would add', async () => {
    const dir = project();
    const { code, stdout } = await ktx(['status'], dir);
    expect(code).toBe(0);
    expect(stdout.match(/^llm: .*/gm)).toEqual([expect.stringContaining(' setup --llm-backend')]);
    expect((await ktx(['doctor'], dir)).stdout).toMatch(/llm: none/);
  });

  test.skipIf(claudeBinary() === undefined || !hasSlowCases)(
    'of a session: verified, or with --fast for nothing [U6 U9 U10 K2 K4]',
    async () => {
      endpoint.fallback = describing;
      const dir = project(
        'llm:\n  provider: {backend: claude-code}\n  models: {default: sonnet}\n  promptCaching: {historyTtl: 1h}\n',
      );
      const asked = endpoint.requests.length;
      const fast = await ktx(['status', '--fast'], dir);
      expect({ code: fast.code, stdout: fast.stdout }).toEqual({
        code: 0,
        stdout: expect.stringContaining('session found, not verified'),
      });
      expect(
        endpoint.requests.slice(asked).filter(({ path }) => path.includes('/messages')),
      ).toEqual([]);
      const full = await ktx(['status'], dir);
      expect(full.stdout).toContain('local Claude Code session authenticated');
      expect(full.stdout).toMatch(/account: \S/);
      expect(full.stdout).toMatch(/ignored: .*historyTtl/);
      expect((await ktx(['doctor'], dir)).stdout).toMatch(/historyTtl/);
    },
  );

  test('shows what was used, and what is not known of its cost', async () => {
    endpoint.fallback = describing;
    const block = `anthropic: {api_key: env:TEST_KEY, base_url: '${endpoint.url}/v1'}`;
    const dir = project(
      `llm:\n  provider: {backend: anthropic, ${block}}\n  models: {default: claude-sonnet-4-6}\n`,
    );
    const run = await ktx(['ingest'], dir);
    expect(run.stderr).toMatch(/\d+ model calls?: [\d,]+ tokens in, .*cost unknown: .*llm\.prices/);
    const { envelope } = await json(['status', '--usage'], dir);
    const usage = { backend: 'anthropic', role: 'candidateExtraction', failed: 0, cost_usd: null };
    expect(envelope.data).toMatchObject({ usage: [usage] });
    expect((await ktx(['status', '--usage'], dir)).stdout).toMatch(/ unknown$/m);
  });

  test('a call that failed for nothing makes no unknown cost known', () => {
    const journal = openJournal(folder());
    const call = { run: 'r', role: 'default', backend: 'anthropic', model: 'm' } as const;
    const tokens = { input: 9, output: 1, cacheRead: 0, cacheWrite: 0 };
    const metrics = { durationMs: 1, steps: 1, apiCalls: 1 };
    const record = usageRecorder(journal.db);
    record({
      ...call,
      outcome: 'ok',
      metrics: { ...metrics, usage: { m: tokens }, costUsd: null, costReason: 'no price' },
    });
    record({ ...call, outcome: 'auth', metrics: { ...metrics, usage: {}, costUsd: 0 } });
    const line = { calls: 2, failed: 1, costUsd: null, costReason: 'no price' };
    expect(usageReport(journal.db)).toMatchObject([line]);
    record({ ...call, outcome: 'ok', metrics: { ...metrics, usage: { m: tokens }, costUsd: 0.5 } });
    expect(usageReport(journal.db)).toMatchObject([{ ...line, calls: 3, costUsd: 0.5 }]);
    journal.close();
  });
});

describe.skipIf(claudeBinary() === undefined || !hasSlowCases)(
  'with every provider variable set and nobody logged in',
  () => {
    test('setup, status, ingest and doctor ask for the local session, and nothing is sent [E8 E13 E15 Q6 U7]', async () => {
      endpoint.fallback = describing;
      const dir = project(
        'llm:\n  provider: {backend: claude-code}\n  models: {default: sonnet}\n',
      );
      const seeded: NodeJS.ProcessEnv = { ...seededVariables, ...nobody.env };
      delete seeded['NODE_OPTIONS'];
      const asked = endpoint.requests.length;
      const commands = [
        ['setup', '--llm-backend', 'claude-code'],
        ['status'],
        ['ingest'],
        ['doctor'],
      ];
      const ended = await Promise.all(commands.map((argv) => ktx(argv, dir, seeded)));
      expect(ended.map(({ code }) => code)).toEqual([4, 4, 4, 1]);
      for (const { stdout, stderr } of ended) expect(stdout + stderr).toMatch(loggedOut);
      expect(endpoint.requests.slice(asked).map(({ path }) => path)).toEqual([]);
      expect(existsSync(join(dir, 'semantic-layer'))).toBe(false);
    });
  },
);
