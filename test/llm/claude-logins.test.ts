import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { AuthMode } from '../../src/llm/backends.ts';
import { openClaudeCodeBackend } from '../../src/llm/claude-code/backend.ts';
import { hasSlowCases } from '../slow-suites.ts';
import { claudeBinary, type ClaudeHome, makeClaudeHome } from '../support/claude-home.ts';
import {
  consoleKey,
  logIntoConsole,
  logIntoSubscription,
  ownOrganization,
} from '../support/claude-logins.ts';
import { testModel } from '../support/llm-runtimes.ts';
import { type ModelEndpoint, openModelEndpoint } from '../support/model-endpoint.ts';
import { fail, say } from '../support/model-script.ts';

const never = new AbortController().signal;

describe.skipIf(claudeBinary() === undefined)(
  `logins of the real program${claudeBinary() === undefined ? ', skipped: no binary' : ''}`,
  () => {
    let endpoint: ModelEndpoint;
    let machine: ClaudeHome;
    beforeEach(async () => {
      endpoint = await openModelEndpoint();
      machine = await makeClaudeHome(endpoint, { session: false });
      endpoint.start(() => say('ready'), testModel);
    });
    afterEach(async () => {
      await endpoint.close();
      await machine.remove();
    });

    /** What the free check and the probe say, and the model requests that were made. */
    async function tryLogin(auth?: AuthMode) {
      const { projectDir, env } = machine;
      const policyFolder = `${machine.home}/no-policy`;
      const backend = openClaudeCodeBackend({ projectDir, env, auth, policyFolder });
      const account = await backend.account(never).catch((error: unknown) => error);
      const probe = await backend.probe(testModel, never).catch((error: unknown) => error);
      await backend.close();
      const prompts = endpoint.requests.filter(({ path }) => path.startsWith('/v1/messages'));
      return { account, probe, prompts };
    }

    test.runIf(hasSlowCases)('a subscription works', async () => {
      await logIntoSubscription(machine);
      const { account, probe } = await tryLogin();
      expect(account).toMatchObject({ source: expect.stringContaining('Claude Team') });
      expect(probe).toMatchObject({ model: testModel });
    });

    test('no login is refused before anything is sent [E13 E15]', async () => {
      const { account, probe, prompts } = await tryLogin();
      const refusal = { code: 'llm_auth', hint: expect.stringContaining('claude auth login') };
      expect([account, probe]).toMatchObject([refusal, refusal]);
      expect(prompts).toEqual([]);
    });

    test.runIf(hasSlowCases)('a Console login is refused, by the mode that allows it', async () => {
      await logIntoConsole(machine);
      const { account, probe, prompts } = await tryLogin();
      const refusal = {
        code: 'llm_auth',
        message: expect.stringContaining('Console account'),
        hint: expect.stringContaining('--llm-backend claude-agent --llm-auth console'),
      };
      expect([account, probe]).toMatchObject([refusal, refusal]);
      expect(prompts).toEqual([]);
    });

    test('a Console login works where a person allowed it, and its key pays', async () => {
      await logIntoConsole(machine);
      const { account, probe, prompts } = await tryLogin('console');
      expect(account).toMatchObject({ source: expect.stringContaining('Console account') });
      expect(probe).toMatchObject({ model: testModel });
      expect(prompts.map(({ headers }) => headers['x-api-key'])).toEqual([consoleKey]);
    });

    test.runIf(hasSlowCases)(
      'no other login and no key stands in for a Console login',
      async () => {
        machine.env['ANTHROPIC_API_KEY'] = 'sk-ant-api03-other';
        machine.env['CLAUDE_CODE_OAUTH_TOKEN'] = 'sk-ant-oat01-other';
        await logIntoSubscription(machine);
        const { account, prompts } = await tryLogin('console');
        expect(account).toMatchObject({
          code: 'llm_auth',
          hint: expect.stringContaining('claude auth login --console'),
        });
        expect(prompts).toEqual([]);
      },
    );

    test.runIf(hasSlowCases)(
      'a login whose organization is not the required one is named, at once',
      async () => {
        await logIntoSubscription(machine);
        const required = '22222222-2222-4222-8222-222222222222';
        endpoint.documents.set('/api/claude_code/settings', {
          uuid: '00000000-0000-4000-8000-000000000000',
          checksum: 'sha256:0',
          settings: { forceLoginOrgUUID: required },
        });
        endpoint.documents.set('/api/oauth/profile', { organization: { uuid: ownOrganization } });
        // The program gets the rule with its first start and obeys it from the second on.
        await tryLogin();
        const { account, prompts } = await tryLogin();
        expect(account).toMatchObject({ code: 'llm_auth', exitCode: 4 });
        const { message } = account as Error;
        expect(message).toContain(required);
        expect(message).toContain('forceLoginOrgUUID in ');
        expect(message).not.toContain('sk-ant-oat');
        expect(prompts.length).toBeLessThanOrEqual(1);
      },
    );

    test('a login that was revoked, or has expired and cannot be renewed, is found by the probe [E9]', async () => {
      await logIntoSubscription(machine, { expiresAt: Date.now() - 3_600_000 });
      endpoint.start(() => fail('auth'), 'claude-opus-4-7');
      const { projectDir, env } = machine;
      const backend = openClaudeCodeBackend({ projectDir, env });
      const probe = await backend.probe('claude-opus-4-7', never).catch((error: unknown) => error);
      await backend.close();
      expect(probe).toMatchObject({
        code: 'llm_auth',
        hint: expect.stringContaining('claude auth login'),
      });
    });
  },
);
