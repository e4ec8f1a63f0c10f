import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ModelBackend } from '../../src/llm/port/backend.ts';
import { authModePolicy } from '../../src/llm/claude-code/account-policy.ts';
import { openClaudeCodeBackend } from '../../src/llm/claude-code/backend.ts';
import { authModeEnv } from '../../src/llm/claude-code/child/env.ts';
import { type AuthMode, authModes } from '../../src/llm/backends.ts';
import { llmConfigSchema } from '../../src/llm/config.ts';
import { openLlm } from '../../src/llm/factory.ts';
import { readTurnResult } from '../../src/llm/port/session.ts';
import { claudeBinary, type ClaudeHome, makeClaudeHome } from '../support/claude-home.ts';
import { logIntoConsole } from '../support/claude-logins.ts';
import { type ModelEndpoint, openModelEndpoint } from '../support/model-endpoint.ts';
import { say } from '../support/model-script.ts';
import { seededVariables } from '../support/provider-variables.ts';

/** The variables of each mode, from the specification; `always` beside what is seeded. */
const families: Readonly<
  Record<
    AuthMode,
    { readonly given: readonly string[]; readonly set: Readonly<Record<string, string>> }
  >
> = {
  api_key: { given: ['ANTHROPIC_API_KEY'], set: {} },
  oauth_token: { given: ['CLAUDE_CODE_OAUTH_TOKEN'], set: {} },
  console: { given: [], set: {} },
  bedrock: {
    given: [
      'AWS_REGION',
      'AWS_DEFAULT_REGION',
      'AWS_ACCESS_KEY_ID',
      'AWS_SECRET_ACCESS_KEY',
      'AWS_SESSION_TOKEN',
      'AWS_PROFILE',
      'AWS_BEARER_TOKEN_BEDROCK',
      'AWS_MADE_UP',
    ],
    set: { CLAUDE_CODE_USE_BEDROCK: '1' },
  },
  vertex: {
    given: [
      'CLOUD_ML_REGION',
      'ANTHROPIC_VERTEX_PROJECT_ID',
      'GOOGLE_CLOUD_PROJECT',
      'GOOGLE_APPLICATION_CREDENTIALS',
      'VERTEX_REGION_CLAUDE_4_0_SONNET',
    ],
    set: { CLAUDE_CODE_USE_VERTEX: '1' },
  },
  foundry: {
    given: [
      'ANTHROPIC_FOUNDRY_RESOURCE',
      'ANTHROPIC_FOUNDRY_API_KEY',
      'ANTHROPIC_FOUNDRY_BASE_URL',
      'AZURE_TENANT_ID',
      'AZURE_CLIENT_ID',
      'AZURE_CLIENT_SECRET',
    ],
    set: { CLAUDE_CODE_USE_FOUNDRY: '1' },
  },
};

const ofFamilies = Object.values(families).flatMap(({ given }) => given);
/** Every family at once, and everything else that could stand in for one. */
const seeded: Readonly<Record<string, string>> = {
  ...seededVariables,
  ...Object.fromEntries(ofFamilies.map((name) => [name, `seeded-${name}-seeded`])),
  MY_OWN_SECRET: 'seeded-MY_OWN_SECRET-seeded',
};
const seededIn = (values: readonly string[]): string[] =>
  Object.entries(seeded).flatMap(([name, value]) =>
    values.some((each) => each.includes(value)) ? [name] : [],
  );

describe('claude-agent', () => {
  test.for(authModes)(
    'with auth %s passes the variables of its own provider and of no other',
    (mode) => {
      const env = authModeEnv({ ...seeded, PATH: '/bin', HOME: '/home/ada', LANG: 'C' }, mode, {});
      expect(seededIn(Object.values(env)).sort()).toEqual([...families[mode].given].sort());
      expect(env).toMatchObject({
        ...families[mode].set,
        PATH: '/bin',
        HOME: '/home/ada',
        LANG: 'C',
      });
      const switches = [
        'CLAUDE_CODE_USE_BEDROCK',
        'CLAUDE_CODE_USE_VERTEX',
        'CLAUDE_CODE_USE_FOUNDRY',
      ];
      expect(switches.filter((name) => name in env)).toEqual(Object.keys(families[mode].set));
    },
  );

  const lacking: readonly (readonly [AuthMode, NodeJS.ProcessEnv, readonly string[]])[] = [
    ['api_key', {}, ['ANTHROPIC_API_KEY']],
    ['oauth_token', { ANTHROPIC_API_KEY: 'x' }, ['CLAUDE_CODE_OAUTH_TOKEN']],
    [
      'bedrock',
      { AWS_ACCESS_KEY_ID: 'x' },
      ['AWS_REGION or AWS_DEFAULT_REGION', 'AWS_SECRET_ACCESS_KEY'],
    ],
    [
      'vertex',
      {},
      [
        'CLOUD_ML_REGION',
        'ANTHROPIC_VERTEX_PROJECT_ID or GOOGLE_CLOUD_PROJECT',
        'GOOGLE_APPLICATION_CREDENTIALS',
      ],
    ],
    [
      'foundry',
      { ANTHROPIC_FOUNDRY_RESOURCE: '' },
      ['ANTHROPIC_FOUNDRY_RESOURCE or', 'ANTHROPIC_FOUNDRY_API_KEY or AZURE_TENANT_ID with'],
    ],
  ];
  test.for(lacking)(
    'with auth %s names all that is missing at once, before anything starts',
    async ([auth, env, names]) => {
      const provider = { backend: 'claude-agent', auth };
      const config = llmConfigSchema.parse({ provider, models: { default: 'sonnet' } });
      const silent = {
        secret: () => '',
        record: () => undefined,
        warn: () => undefined,
        onPause: () => undefined,
      };
      const failure: unknown = await openLlm({
        config,
        projectDir: '/nowhere',
        env,
        run: 'test',
        ...silent,
      }).catch((error: unknown) => error);
      expect(failure).toMatchObject({ code: 'llm_auth', exitCode: 4 });
      for (const name of names) expect((failure as Error).message).toContain(name);
    },
  );

  test('is the only backend that takes auth', () => {
    const { error } = llmConfigSchema.safeParse({
      provider: { backend: 'claude-code', auth: 'api_key' },
      models: { default: 'sonnet' },
    });
    expect(error?.issues).toMatchObject([
      { path: ['provider', 'auth'], message: expect.stringContaining('takes no auth') },
    ]);
  });

  test('uses the model names of its cloud', () => {
    const isValid = (auth: AuthMode, model: string): boolean =>
      llmConfigSchema.safeParse({
        provider: { backend: 'claude-agent', auth },
        models: { default: model },
      }).success;
    expect(isValid('bedrock', 'eu.anthropic.claude-sonnet-4-6-20250929-v1:0')).toBe(true);
    expect(isValid('vertex', 'claude-sonnet-4-6@20250929')).toBe(true);
    expect(isValid('foundry', 'my-deployment')).toBe(true);
    expect(isValid('api_key', 'my-deployment')).toBe(false);
    expect(isValid('api_key', 'sonnet')).toBe(true);
  });

  test.for([
    ['api_key', { apiProvider: 'firstParty', apiKeySource: 'ANTHROPIC_API_KEY' }, true],
    ['api_key', { apiProvider: 'firstParty', tokenSource: 'claude.ai' }, false],
    ['api_key', { apiProvider: 'firstParty', apiKeySource: 'apiKeyHelper' }, false],
    ['api_key', { apiProvider: 'bedrock' }, false],
    ['oauth_token', { apiProvider: 'firstParty', tokenSource: 'CLAUDE_CODE_OAUTH_TOKEN' }, true],
    ['oauth_token', { apiProvider: 'firstParty', tokenSource: 'none' }, false],
    [
      'oauth_token',
      { tokenSource: 'CLAUDE_CODE_OAUTH_TOKEN', apiKeySource: 'ANTHROPIC_API_KEY' },
      false,
    ],
    ['console', { tokenSource: 'none', apiKeySource: '/login managed key' }, true],
    ['console', { tokenSource: 'claude.ai', subscriptionType: 'max' }, false],
    ['console', { tokenSource: 'none', apiKeySource: 'ANTHROPIC_API_KEY' }, false],
    ['console', { tokenSource: 'none' }, false],
    ['bedrock', { apiProvider: 'bedrock' }, true],
    ['bedrock', { apiProvider: 'vertex' }, false],
    ['vertex', { apiProvider: 'firstParty', tokenSource: 'claude.ai' }, false],
    ['foundry', { apiProvider: 'foundry' }, true],
  ] as const)('with auth %s and the account %o: agreed is %s', ([mode, account, agreed]) => {
    const check = (): void => authModePolicy(mode, seeded).checkAccount(account);
    if (agreed) expect(check).not.toThrow();
    else expect(check).toThrow(expect.objectContaining({ kind: 'auth' }));
  });
});

const binary = claudeBinary();
describe.skipIf(binary === undefined)('the real program as claude-agent', () => {
  let endpoint: ModelEndpoint;
  let machine: ClaudeHome;
  beforeAll(async () => {
    endpoint = await openModelEndpoint();
    machine = await makeClaudeHome(endpoint);
    await logIntoConsole(machine);
  });
  afterAll(async () => {
    await endpoint?.close();
    await machine?.remove();
  });

  /**
   * The product's adapter, with every family in the environment, and what the child got of it.
   */
  async function open(
    auth: AuthMode,
  ): Promise<{ backend: ModelBackend; dumped: () => Promise<string[]> }> {
    const dumps = join(dirname(machine.home), `env-${auth}`);
    await mkdir(dumps);
    const executable = join(dirname(machine.home), `claude-${auth}`);
    await writeFile(executable, `#!/bin/sh\nenv > '${dumps}'/$$\nexec '${binary}' "$@"\n`);
    await chmod(executable, 0o755);
    const env = {
      ...seeded,
      ...machine.env,
      CLAUDE_CODE_OAUTH_TOKEN: seeded['CLAUDE_CODE_OAUTH_TOKEN'],
    };
    const backend = openClaudeCodeBackend({
      projectDir: machine.projectDir,
      env,
      executable,
      auth,
    });
    const dumped = async (): Promise<string[]> =>
      Promise.all((await readdir(dumps)).map((name) => readFile(join(dumps, name), 'utf8')));
    return { backend, dumped };
  }

  test.for(authModes)(
    'with auth %s: exactly its family reaches the child, which goes by that account',
    async (mode) => {
      const { backend, dumped } = await open(mode);
      const account = await backend.account(new AbortController().signal);
      await backend.close();
      expect(account?.source).toMatch(
        {
          api_key: /ANTHROPIC_API_KEY/,
          oauth_token: /OAUTH_TOKEN/,
          console: /Console account/,
          bedrock: /Bedrock/,
          vertex: /Vertex/,
          foundry: /Foundry/,
        }[mode],
      );
      expect(seededIn(await dumped()).sort()).toEqual([...families[mode].given].sort());
    },
  );

  /** What ktx cannot keep out of a child: the program is a script that sets it. */
  const intruders: readonly (readonly [AuthMode, string, RegExp])[] = [
    ['api_key', 'unset ANTHROPIC_API_KEY', /not the API key in ANTHROPIC_API_KEY/],
    ['oauth_token', 'export ANTHROPIC_API_KEY=other', /would use ANTHROPIC_API_KEY, not the token/],
    [
      'bedrock',
      'unset CLAUDE_CODE_USE_BEDROCK; export ANTHROPIC_API_KEY=other',
      /would use firstParty, not the AWS account/,
    ],
    [
      'vertex',
      'export CLAUDE_CODE_USE_BEDROCK=1 AWS_REGION=x',
      /would use bedrock, not the Google Cloud project/,
    ],
    [
      'foundry',
      'unset CLAUDE_CODE_USE_FOUNDRY; export CLAUDE_CODE_OAUTH_TOKEN=other',
      /would use firstParty, not the Microsoft/,
    ],
  ];
  test.for(intruders)(
    'with auth %s and a child that did "%s": refused before a word is sent',
    async ([auth, line, message]) => {
      const executable = join(dirname(machine.home), `other-${auth}`);
      await writeFile(executable, `#!/bin/sh\n${line}\nexec '${binary}' "$@"\n`, { mode: 0o755 });
      const backend = openClaudeCodeBackend({
        projectDir: machine.projectDir,
        env: { ...seeded, ...machine.env },
        executable,
        auth,
      });
      const sent = (): unknown[] =>
        endpoint.requests.filter(({ path }) => path.includes('/messages'));
      const before = sent().length;
      await expect(backend.probe('sonnet', new AbortController().signal)).rejects.toMatchObject({
        kind: 'auth',
        message: expect.stringMatching(message) as unknown,
      });
      await backend.close();
      expect(sent().length).toBe(before);
    },
  );

  test('starts no child if a variable is missing', async () => {
    const trace = join(dirname(machine.home), 'started');
    const executable = join(dirname(machine.home), 'never');
    await writeFile(executable, `#!/bin/sh\ntouch '${trace}'\nexec '${binary}' "$@"\n`, {
      mode: 0o755,
    });
    for (const auth of authModes.filter((mode) => mode !== 'console'))
      expect(() =>
        openClaudeCodeBackend({
          projectDir: machine.projectDir,
          env: machine.env,
          executable,
          auth: auth === 'oauth_token' ? 'api_key' : auth,
        }),
      ).toThrow(/needs/);
    expect(existsSync(trace)).toBe(false);
  });

  test.for(['api_key', 'oauth_token'] as const)(
    'with auth %s answers, by that credential',
    async (auth) => {
      const config = llmConfigSchema.parse({
        provider: { backend: 'claude-agent', auth },
        models: { default: 'claude-sonnet-4-6' },
      });
      const env = {
        ...seeded,
        ...machine.env,
        CLAUDE_CODE_OAUTH_TOKEN: seeded['CLAUDE_CODE_OAUTH_TOKEN'],
      };
      const silent = {
        secret: () => '',
        record: () => undefined,
        warn: () => undefined,
        onPause: () => undefined,
      };
      const runtime = await openLlm({
        config,
        projectDir: machine.projectDir,
        env,
        run: 'test',
        ...silent,
      });
      const running = endpoint.start(() => say('Paid for.'));
      const limits = { maxTurns: 3, timeoutSeconds: 60 };
      const session = runtime?.sessions.open({
        id: 'test',
        system: running.marker,
        tools: {},
        limits,
      });
      expect(session && (await readTurnResult(session.send('Who pays?')))).toMatchObject({
        text: 'Paid for.',
        stopReason: 'completed',
      });
      expect(
        await runtime?.generateText({ role: 'default', prompt: `Again. ${running.marker}` }),
      ).toBe('Paid for.');
      await runtime?.close();
      for (const { headers } of running.calls) {
        expect([headers['x-api-key'], headers['authorization']]).toEqual(
          auth === 'api_key'
            ? [seeded['ANTHROPIC_API_KEY'], undefined]
            : [undefined, `Bearer ${seeded['CLAUDE_CODE_OAUTH_TOKEN']}`],
        );
      }
      expect(running.calls.length).toBe(2);
    },
  );
});
