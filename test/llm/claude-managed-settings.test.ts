import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openClaudeCodeBackend } from '../../src/llm/claude-code/backend.ts';
import { checkManagedSettings } from '../../src/llm/claude-code/managed-settings/check-managed-settings.ts';
import type { ModelBackend } from '../../src/llm/port/backend.ts';
import { claudeBinary, type ClaudeHome } from '../support/claude-home.ts';
import { makeMachine, testModel } from '../support/llm-runtimes.ts';
import { type ModelEndpoint, openModelEndpoint } from '../support/model-endpoint.ts';
import { say } from '../support/model-script.ts';

let folder = '';
const home = (): string => join(folder, 'home');
const policyFolder = (): string => join(folder, 'policy');
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ktx-managed-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function put(path: string, content: unknown): Promise<void> {
  const file = join(folder, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
}

const check = (isAllowed = false, delivered: Readonly<Record<string, unknown>> = {}) =>
  checkManagedSettings(
    { env: { HOME: home() }, isAllowed, policyFolder: policyFolder() },
    delivered,
  );

const hooks = { SessionStart: [{ hooks: [{ type: 'command', command: 'curl evil' }] }] };
const main = 'policy/managed-settings.json';

describe('managed settings of Claude Code', () => {
  test.each([
    [main, { hooks }, 'hooks.SessionStart runs a program'],
    [main, `\uFEFF${JSON.stringify({ hooks })}`, 'hooks.SessionStart runs a program'],
    ['policy/managed-settings.d/10-x.json', { hooks }, 'hooks.SessionStart runs a program'],
    ['home/.claude/remote-settings.json', { hooks }, 'hooks.SessionStart runs a program'],
    [
      'home/.claude/remote-settings.json',
      { uuid: 'x', settings: { modelOverrides: { a: 'b' } } },
      'modelOverrides changes the model',
    ],
    [main, { env: { ANTHROPIC_CUSTOM_HEADERS: 'x: secret' } }, 'env.ANTHROPIC_CUSTOM_HEADERS adds'],
    [main, { env: { ANYTHING: '1' } }, 'env.ANYTHING sets a variable'],
    [main, { apiKeyHelper: 'give-key' }, 'apiKeyHelper runs a program'],
    [main, { otelHeadersHelper: 'give' }, 'otelHeadersHelper runs a program'],
    [main, { policyHelper: { path: '/x' } }, 'policyHelper runs a program'],
    [main, { availableModels: ['haiku'] }, 'availableModels changes the model'],
    [main, { permissions: { deny: ['Bash', 'mcp__ktx__x'] } }, 'permissions.deny keeps the tools'],
    [main, { allowManagedPermissionRulesOnly: true }, 'allowManagedPermissionRulesOnly keeps the'],
    [main, { aKeyOfTomorrow: 1 }, 'aKeyOfTomorrow may change what is sent'],
    [main, { aKeyOfTomorrow: { give: 1 } }, 'aKeyOfTomorrow may change what is sent'],
  ])('that take part are refused by name: %s %j', async (path, content, expected) => {
    await put(path, content);
    const refusal = await check().catch((error: unknown) => error);
    expect(refusal).toMatchObject({
      code: 'llm_managed_settings',
      exitCode: 4,
      message: expect.stringContaining(`${join(folder, path)}: ${expected}`),
      hint: expect.stringContaining('allow_managed_settings: true'),
    });
    expect(JSON.stringify(refusal)).not.toMatch(/evil|secret|give/);
    expect(await check(true)).toEqual([expect.stringContaining(expected)]);
  });

  test.each([
    [main, '{ "hooks": ', 'is not a JSON object'],
    [main, '[]', 'is not a JSON object'],
    [main, '{ // why\n}', 'is not a JSON object'],
    ['policy/managed-settings.d/x.json', '{', 'is not a JSON object'],
    ['policy/managed-mcp.json', {}, 'allows no MCP servers but its own'],
  ])('that keep the program from starting are named: %s %s', async (path, content, expected) => {
    await put(path, content);
    const message = expect.stringContaining(`${join(folder, path)} ${expected}`);
    for (const isAllowed of [false, true])
      await expect(check(isAllowed)).rejects.toMatchObject({
        code: 'llm_managed_settings',
        exitCode: 4,
        message,
      });
  });

  test('that a server delivers to the running program are refused as well, each once', async () => {
    const delivered = { hooks, modelOverrides: { a: 'b' }, model: 'opus' };
    const where = 'delivered by the organization of the account';
    await expect(check(false, delivered)).rejects.toMatchObject({
      code: 'llm_managed_settings',
      message: expect.stringContaining(`${where}: hooks.SessionStart runs a program`),
    });
    await put(main, { hooks });
    expect(await check(true, delivered)).toEqual([
      `${join(folder, main)}: hooks.SessionStart runs a program`,
      `${where}: modelOverrides changes the model`,
    ]);
  });

  test('that change nothing pass', async () => {
    await put(main, {
      $schema: 'x',
      model: 'opus',
      permissions: { deny: ['Bash', 'Read(./.env)'], defaultMode: 'plan', allow: ['Bash(*)'] },
      env: { DISABLE_TELEMETRY: '1', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' },
      statusLine: { type: 'command', command: 'x' },
      hooks: {},
      disableAllHooks: true,
      forceLoginOrgUUID: 'x',
      cleanupPeriodDays: 3,
      allowManagedPermissionRulesOnly: false,
    });
    await put('policy/managed-settings.d/.hidden.json', { hooks });
    await put('policy/managed-settings.d/notes.txt', '{');
    await put('home/.claude/remote-settings.json', '');
    expect(await check()).toEqual([]);
  });
});

describe.skipIf(claudeBinary() === undefined)(
  `the real program under managed settings${claudeBinary() === undefined ? ', skipped: no binary' : ''}`,
  () => {
    const never = new AbortController().signal;
    let endpoint: ModelEndpoint;
    let machine: ClaudeHome;
    let opened: ModelBackend[] = [];
    beforeEach(async () => {
      endpoint = await openModelEndpoint();
      machine = await makeMachine(endpoint);
      opened = [];
    });
    afterEach(async () => {
      await Promise.all(opened.map((backend) => backend.close()));
      await endpoint.close();
      await machine.remove();
    });
    const open = (allowManagedSettings = false): ModelBackend => {
      const { projectDir, env } = machine;
      const policy = policyFolder();
      const options = { projectDir, env, allowManagedSettings, policyFolder: policy };
      opened.push(openClaudeCodeBackend(options));
      return opened.at(-1) as ModelBackend;
    };

    test('does not start', async () => {
      await put(main, { hooks });
      await expect(open().account(never)).rejects.toMatchObject({ code: 'llm_managed_settings' });
      await expect(open().probe(testModel, never)).rejects.toMatchObject({ exitCode: 4 });
      expect(endpoint.requests).toEqual([]);
    });

    test('sends no prompt if a server delivered them; allowed, the account names them', async () => {
      const settings = { env: { ANTHROPIC_CUSTOM_HEADERS: 'x-managed: yes' }, model: 'opus' };
      endpoint.documents.set('/api/claude_code/settings', {
        uuid: '00000000-0000-4000-8000-000000000000',
        checksum: 'sha256:0',
        settings,
      });
      endpoint.start(() => say('ready'), testModel);
      const name = 'env.ANTHROPIC_CUSTOM_HEADERS adds headers to every request';
      await expect(open().probe(testModel, never)).rejects.toMatchObject({
        code: 'llm_managed_settings',
        message: expect.stringContaining(name),
      });
      const prompts = () => endpoint.requests.filter(({ path }) => path.startsWith('/v1/messages'));
      expect(prompts()).toEqual([]);
      const { account } = await open(true).probe(testModel, never);
      expect(account?.notes).toEqual([expect.stringContaining(name)]);
      expect(prompts()[0]?.headers['x-managed']).toBe('yes');
    });
  },
);
