import { describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { backends } from '../../src/llm/backends.ts';
import { llmConfigSchema, modelIdForRole } from '../../src/llm/config.ts';
import { type LlmOptions, openLlm } from '../../src/llm/factory.ts';
import { modelRoles } from '../../src/llm/port/runtime.ts';

const key = 'env:SOME_KEY';
const blocks: Readonly<Record<string, object>> = {
  anthropic: { api_key: key, base_url: 'https://models.example/v1' },
  vertex: { project: 'env:PROJECT', location: 'global' },
  gateway: { api_key: key },
  openai: { api_key: key, base_url: 'http://localhost:11434/v1' },
  bedrock: { region: 'eu-central-1' },
};

const config = (backend: string, rest: object = {}) => ({
  provider: { backend, ...(backend in blocks ? { [backend]: blocks[backend] } : {}) },
  ...rest,
});
const problems = (value: unknown): string[] =>
  (llmConfigSchema.safeParse(value).error?.issues ?? []).map(
    ({ path, message }) => `${path.join('.')}: ${message}`,
  );

function options(value: unknown, rest: Partial<LlmOptions> = {}): LlmOptions {
  const nothing = (): void => undefined;
  const around = {
    projectDir: '/nowhere',
    env: {},
    run: 'test',
    secret: () => 'value',
    record: nothing,
    warn: nothing,
    onPause: nothing,
  };
  return { config: llmConfigSchema.parse(value), ...around, ...rest };
}

describe('the llm part of ktx.yaml', () => {
  test('has the backends, each with its own block that survives a round trip [C1 C2]', () => {
    expect(backends).toEqual([
      'none',
      'anthropic',
      'vertex',
      'gateway',
      'openai',
      'bedrock',
      'claude-code',
      'claude-agent',
    ]);
    for (const backend of backends) {
      const parsed = llmConfigSchema.parse(config(backend));
      expect(parsed.provider).toEqual(config(backend).provider);
      expect(llmConfigSchema.parse(parse(stringify(parsed)))).toEqual(parsed);
    }
  });

  test('refuses a backend without its block, an unknown key, and an unknown backend [C1]', () => {
    for (const backend of Object.keys(blocks)) {
      expect(problems({ provider: { backend } })).toEqual([
        `provider.${backend}: backend ${backend} needs the block provider.${backend}`,
      ]);
      expect(
        problems({ provider: { backend, [backend]: { ...blocks[backend], odd: 1 } } }),
      ).toHaveLength(1);
    }
    expect(problems({ provider: { backend: 'claude' } })).toHaveLength(1);
  });

  test('takes an API key as a reference, never as plain text [C1]', () => {
    expect(
      problems({ provider: { backend: 'anthropic', anthropic: { api_key: 'sk-ant-made-up' } } }),
    ).toHaveLength(1);
  });

  test('has no settings for embeddings [C12]', () => {
    expect(problems({ ...config('none'), embeddings: {} })).toHaveLength(1);
  });
});

describe('models', () => {
  test('are bound to roles in one place; a role without a model uses default [C3]', () => {
    const parsed = llmConfigSchema.parse(
      config('anthropic', { models: { default: 'one', triage: 'two' } }),
    );
    expect(modelRoles.map((role) => modelIdForRole(parsed, role))).toEqual([
      'one',
      'two',
      'one',
      'one',
      'one',
      'one',
    ]);
    expect(problems(config('anthropic', { models: { default: 'one', chat: 'two' } }))).toHaveLength(
      1,
    );
  });

  test.for(backends.filter((backend) => backend !== 'none'))(
    'on %s need a default [C4]',
    async (backend) => {
      await expect(openLlm(options(config(backend)))).rejects.toMatchObject({
        code: 'llm_model_missing',
        exitCode: 2,
      });
    },
  );

  const accepted = [
    'sonnet',
    'opus',
    'haiku',
    'sonnet[1m]',
    'claude-sonnet-4-6',
    'claude-opus-4-7',
    'claude-haiku-4-5-20251001',
    'claude-sonnet-4-6[1m]',
  ];
  test.for(accepted)('on the Claude Code backends may be %s [C5 C6]', (model) => {
    for (const backend of ['claude-code', 'claude-agent'])
      expect(problems(config(backend, { models: { default: model } }))).toEqual([]);
  });

  const refused = [
    'gpt-5',
    'Sonnet',
    'claude-',
    'anthropic/claude-sonnet-4.6',
    'default',
    'claude-sonnet-4-6[2m]',
    'claude-x; rm -rf',
    ' sonnet',
  ];
  test.for(refused)(
    'on the Claude Code backends may not be %s: the message names it and what may be [C7]',
    (model) => {
      for (const backend of ['claude-code', 'claude-agent']) {
        const [problem, ...more] = problems(
          config(backend, { models: { default: 'sonnet', curator: model } }),
        );
        expect(more).toEqual([]);
        expect(problem).toContain('models.curator');
        for (const part of [model, 'sonnet', 'opus', 'haiku', 'claude-sonnet-4-6', '[1m]'])
          expect(problem).toContain(part);
      }
    },
  );
});

describe('the factory', () => {
  test('opens nothing for the backend none [P5]', async () => {
    expect(await openLlm(options({}))).toBeUndefined();
  });

  test('requires a project folder for Claude Code [P6]', async () => {
    const without = options(config('claude-code', { models: { default: 'sonnet' } }), {
      projectDir: undefined,
    });
    await expect(openLlm(without)).rejects.toMatchObject({
      code: 'llm_project_missing',
      exitCode: 2,
    });
  });

  test('never replaces a backend that is not there [C11]', async () => {
    const env = { CLAUDE_CODE_OAUTH_TOKEN: 'made-up' };
    await expect(
      openLlm(options(config('claude-agent', { models: { default: 'sonnet' } }), { env })),
    ).rejects.toMatchObject({
      code: 'llm_auth',
      message: expect.stringContaining('ANTHROPIC_API_KEY'),
    });
  });
});
