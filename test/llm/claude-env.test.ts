import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { authModeEnv, cachingEnv, ownSessionEnv } from '../../src/llm/claude-code/child/env.ts';

import { llmConfigSchema, type PromptCaching } from '../../src/llm/config.ts';
import { ignoredCachingFields } from '../../src/llm/ignored-settings.ts';
import { deniedVariables, seededVariables } from '../support/provider-variables.ts';

describe('the environment of a Claude Code child', () => {
  test.for(deniedVariables)('has no %s [E2 E4 E6]', (name) => {
    const env = ownSessionEnv({ [name]: 'seeded', PATH: '/bin' });
    expect(env).not.toHaveProperty(name);
    expect(Object.values(env)).not.toContain('seeded');
  });

  test('is defined in one file: no other names a variable of a provider [E3 Q7]', async () => {
    const folder = join(import.meta.dirname, '../../src/llm/claude-code');
    const naming = [];
    const names = await readdir(folder, { recursive: true });
    for (const name of names.filter((path) => path.endsWith('.ts'))) {
      const text = await readFile(join(folder, name), 'utf8');
      if (
        deniedVariables.some((variable) => text.includes(variable)) ||
        /ANTHROPIC_|AWS_|GOOGLE_/.test(text)
      )
        naming.push(name);
    }
    expect(naming).toEqual(['child/env.ts']);
  });

  test('has none of them in lower case either, which is the same on Windows [E2]', () => {
    const env = ownSessionEnv(
      Object.fromEntries(
        Object.entries(seededVariables).map(([name, value]) => [name.toLowerCase(), value]),
      ),
    );
    expect(Object.values(env).filter((value) => value.startsWith('seeded-'))).toEqual([]);
  });

  test.for(['MCP_TIMEOUT', 'ENABLE_TOOL_SEARCH', 'BUN_OPTIONS', 'DISABLE_PROMPT_CACHING_OPUS'])(
    'has no %s, which changes what the program does [E2]',
    (name) => expect(ownSessionEnv({ [name]: '1' })).not.toHaveProperty(name),
  );

  test('keeps the session, proxy settings and everything else [E4 E5]', () => {
    const env = {
      PATH: '/bin',
      HOME: '/home/ada',
      USERPROFILE: 'C:\\Users\\ada',
      LANG: 'C.UTF-8',
      TMPDIR: '/tmp',
      HTTPS_PROXY: 'http://proxy:3128',
      NO_PROXY: 'localhost',
      NODE_EXTRA_CA_CERTS: '/ca.pem',
      SSL_CERT_FILE: '/ca.pem',
      CLAUDE_CONFIG_DIR: '/home/ada/.claude-work',
      CLAUDE_CODE_OAUTH_TOKEN: 'made-up',
      CLAUDE_CODE_CLIENT_CERT: '/cert.pem',
      MY_OWN: 'kept',
    };
    expect(ownSessionEnv(env)).toMatchObject(env);
  });

  test.for(['DISABLE_COMPACT', 'DISABLE_AUTO_COMPACT'])(
    '%s is on, whatever the machine says, so that a context that is too long is an error',
    (name) => {
      expect(ownSessionEnv({ [name]: '0' })).toHaveProperty(name, '1');
      expect(authModeEnv({ [name]: '0', PATH: '/bin' }, 'api_key', {})).toHaveProperty(name, '1');
    },
  );

  test('turns off everything that reads files, and limits the retries [I20]', () => {
    expect(
      ownSessionEnv({ CLAUDE_CODE_DISABLE_ATTACHMENTS: '0', CLAUDE_CODE_MAX_RETRIES: '99' }),
    ).toMatchObject({
      CLAUDE_CODE_DISABLE_ATTACHMENTS: '1',
      CLAUDE_CODE_DISABLE_MODEL_ACCESS_FALLBACK: '1',
      CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK: '1',
      CLAUDE_CODE_MAX_RETRIES: '1',
    });
  });
});

describe('llm.promptCaching on Claude Code', () => {
  const parsed = (promptCaching: PromptCaching): PromptCaching | undefined =>
    llmConfigSchema.parse({ promptCaching }).promptCaching;
  const ignoredBy = (promptCaching: PromptCaching | undefined): readonly string[] =>
    ignoredCachingFields(
      llmConfigSchema.parse({
        provider: { backend: 'claude-code' },
        models: { default: 'sonnet' },
        promptCaching,
      }),
    );

  test('needs no notice if it is not set or changes nothing [K1]', () => {
    expect(ignoredBy(undefined)).toEqual([]);
    expect(ignoredBy(parsed({}))).toEqual([]);
    expect(ignoredBy(parsed({ enabled: true, cacheSystem: true }))).toEqual([]);
    expect(cachingEnv(undefined)).toEqual({});
  });

  const fields: readonly PromptCaching[] = [
    { cacheSystem: false },
    { cacheTools: true },
    { cacheTools: false },
    { cacheHistory: true },
    { systemTtl: '5m' },
    { toolsTtl: '1h' },
    { historyTtl: '5m' },
    { vertexFallbackTo5m: true },
  ];
  test.for(fields)('names %o as ignored, and what to do [K2 K3 K4]', (field) => {
    const [name] = Object.keys(field);
    expect(ignoredBy(parsed(field))).toEqual([
      expect.stringMatching(new RegExp(`^llm.promptCaching.${name} is ignored: .* ktx.yaml.$`)),
    ]);
  });

  test('is honoured if it turns caching off or asks for one hour everywhere [K8]', () => {
    const off = parsed({ enabled: false, cacheTools: false });
    expect(cachingEnv(off)).toEqual({ DISABLE_PROMPT_CACHING: '1' });
    expect(ignoredBy(off)).toEqual([]);
    const hour = parsed({ systemTtl: '1h', toolsTtl: '1h', historyTtl: '1h' });
    expect(cachingEnv(hour)).toEqual({ ENABLE_PROMPT_CACHING_1H: '1' });
    expect(ignoredBy(hour)).toEqual([]);
    expect(ownSessionEnv({ ENABLE_PROMPT_CACHING_1H: 'mine' }, cachingEnv(hour))).toMatchObject({
      ENABLE_PROMPT_CACHING_1H: '1',
    });
  });
});
