import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { createOpenAI } from '@ai-sdk/openai';
import { z } from 'zod';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openAiSdkBackend } from '../../src/llm/ai-sdk/backend.ts';
import { providers, type ProviderName } from '../../src/llm/ai-sdk/providers.ts';
import { streamCall } from '../../src/llm/ai-sdk/stream-call.ts';
import type { PromptCaching } from '../../src/llm/config.ts';
import type { KtxToolSet } from '../../src/llm/port/runtime.ts';
import {
  anthropicTurn,
  callOf,
  failureOf,
  inTurn,
  scriptedEndpoint,
  recordingMonitor,
  type Reply,
} from './ai-sdk-endpoint.ts';

const open = (provider: ProviderName, config: object, promptCaching?: PromptCaching) =>
  openAiSdkBackend({
    provider,
    config,
    promptCaching,
    repairModel: 'repair',
    projectDir: '/nowhere',
  });

const named = (name: string): KtxToolSet[string] => ({
  name,
  description: `The tool ${name}.`,
  inputSchema: z.object({ word: z.string() }),
  execute: () => Promise.resolve({ markdown: `${name} ran` }),
});
const tools: KtxToolSet = { zebra: named('zebra'), apple: named('apple') };

/** What every default of a provider package would take from the environment, were it let. */
const environment = {
  ANTHROPIC_API_KEY: 'sk-from-env',
  ANTHROPIC_AUTH_TOKEN: 'token-from-env',
  ANTHROPIC_BASE_URL: 'http://127.0.0.1:1',
  OPENAI_API_KEY: 'sk-from-env',
  OPENAI_BASE_URL: 'http://127.0.0.1:1',
  AI_GATEWAY_API_KEY: 'key-from-env',
  VERCEL_OIDC_TOKEN: 'oidc-from-env',
  GOOGLE_VERTEX_PROJECT: 'project-from-env',
  GOOGLE_VERTEX_LOCATION: 'location-from-env',
};
beforeEach(() => {
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
});
afterEach(() => vi.unstubAllEnvs());

describe('cache markers', () => {
  const ephemeral = (ttl: string) => ({ type: 'ephemeral', ttl });
  const turns = [
    anthropicTurn([{ tool: 'apple', input: { word: 'a' } }]),
    anthropicTurn([{ text: 'Done.' }]),
  ];

  async function markersOf(
    caching: PromptCaching | undefined,
    tier: 'anthropic' | 'vertex' = 'anthropic',
  ) {
    await using endpoint = await scriptedEndpoint(inTurn(...turns));
    const config =
      tier === 'anthropic'
        ? { api_key: 'k', base_url: endpoint.url }
        : { ...google, base_url: endpoint.url };
    const call = callOf(recordingMonitor().monitor, { system: 'Be brief.', tools });
    await open(tier, config, caching).loop({ ...call, stepBudget: 3 });
    return endpoint.requests.map(({ body }) => ({
      system: body.system[0].cache_control,
      tools: body.tools.map((tool: { name: string; cache_control?: object }) => [
        tool.name,
        tool.cache_control,
      ]),
      messages: body.messages.map(
        (message: { content: { cache_control?: object }[] }) =>
          message.content.at(-1)?.cache_control,
      ),
    }));
  }

  test('are on the system text and tools for one hour and on the last message for five minutes; tools are sorted by name [K6 P12]', async () => {
    const shared = {
      system: ephemeral('1h'),
      tools: [
        ['apple', undefined],
        ['zebra', ephemeral('1h')],
      ],
    };
    expect(await markersOf(undefined)).toEqual([
      { ...shared, messages: [ephemeral('5m')] },
      { ...shared, messages: [undefined, undefined, ephemeral('5m')] },
    ]);
  });

  test('follow promptCaching, part by part [K6]', async () => {
    const [lives] = await markersOf({ systemTtl: '5m', toolsTtl: '5m', historyTtl: '1h' });
    expect([lives?.system, lives?.tools[1][1], lives?.messages[0]]).toEqual([
      ephemeral('5m'),
      ephemeral('5m'),
      ephemeral('1h'),
    ]);
    const none = [
      { cacheSystem: false },
      { cacheTools: false },
      { cacheHistory: false },
      { enabled: false },
    ];
    const left = await Promise.all(none.map(async (caching) => (await markersOf(caching))[0]));
    expect(
      left.map((one) =>
        [one?.system, one?.tools[1][1], one?.messages[0]].map((marker) => marker !== undefined),
      ),
    ).toEqual([
      [false, true, true],
      [true, false, true],
      [true, true, false],
      [false, false, false],
    ]);
  });

  test('last five minutes on Vertex if configured [K6]', async () => {
    await withGoogle(async () => {
      const [usual] = await markersOf({}, 'vertex');
      const [short] = await markersOf({ vertexFallbackTo5m: true }, 'vertex');
      expect([usual?.system, short?.system, short?.tools[1][1]]).toEqual([
        ephemeral('1h'),
        ephemeral('5m'),
        ephemeral('5m'),
      ]);
    });
    expect((await markersOf({ vertexFallbackTo5m: true }))[0]?.system).toEqual(ephemeral('1h'));
  });
});

describe('the environment', () => {
  test('does not supply a key or an address if ktx.yaml names the key', async () => {
    await using endpoint = await scriptedEndpoint(inTurn(anthropicTurn([{ text: 'Fine.' }])));
    await open('anthropic', { api_key: 'sk-from-yaml', base_url: endpoint.url }).text({
      ...callOf(recordingMonitor().monitor),
      stepBudget: 1,
    });
    expect(endpoint.requests[0]?.headers).toMatchObject({ 'x-api-key': 'sk-from-yaml' });
    expect(endpoint.requests[0]?.headers.authorization).toBeUndefined();
    for (const name of ['anthropic', 'gateway'] as const) {
      await expect(
        open(name, {}).text({ ...callOf(recordingMonitor().monitor), stepBudget: 1 }),
      ).rejects.toMatchObject({
        code: 'llm_config_invalid',
      });
    }
    await expect(
      open('openai', {}).probe('gpt-5', new AbortController().signal),
    ).rejects.toMatchObject({ code: 'llm_config_invalid' });
    const addresses = await Promise.all([
      providers.anthropic.open({ api_key: 'k' }),
      providers.openai.open({ api_key: 'k' }),
    ]);
    const [claude, gpt] = addresses.map((model) => JSON.stringify(model('any')));
    expect(claude).toContain('https://api.anthropic.com/v1');
    expect(`${claude}${gpt}`).not.toContain('127.0.0.1');
  });
});

describe('a backend that the AI SDK does not serve', () => {
  test.each(['claude-code', 'none', 'toString'])('is refused: %s [C8 C9]', (name) => {
    expect(() => open(name as ProviderName, {})).toThrow(
      /is not a LanguageModel backend: the AI SDK serves anthropic, vertex, gateway, openai, bedrock/,
    );
  });

  test('is not among the providers, each of which says who pays', async () => {
    const configs = {
      anthropic: { api_key: 'k' },
      vertex: google,
      gateway: { api_key: 'k' },
      openai: { base_url: 'http://127.0.0.1:1/v1' },
      bedrock: { region: 'eu-west-1' },
    };
    const signal = new AbortController().signal;
    const all = await Promise.all(
      Object.entries(configs).map(([name, config]) =>
        open(name as ProviderName, config).account(signal),
      ),
    );
    expect(all.map((one) => one?.source)).toEqual([
      'the API key that llm.provider.anthropic.api_key names',
      'Google application default credentials, project my-project',
      'the API key that llm.provider.gateway.api_key names',
      undefined,
      'AWS credentials of the environment, region eu-west-1',
    ]);
  });
});

describe('an OpenAI-compatible endpoint', () => {
  const chunk = (delta: object, finish: string | null = null) => ({
    id: 'c1',
    model: 'qwen-3',
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  const stream = (...chunks: object[]): Reply => {
    const usage = {
      id: 'c1',
      model: 'qwen-3',
      choices: [],
      usage: {
        prompt_tokens: 50,
        completion_tokens: 9,
        prompt_tokens_details: { cached_tokens: 40 },
      },
    };
    return {
      body:
        [...chunks, usage].map((one) => `data: ${JSON.stringify(one)}\n\n`).join('') +
        'data: [DONE]\n\n',
    };
  };

  test('gets chat completions, no key if none is named, and no uncommon parameters [P2]', async () => {
    const call = {
      index: 0,
      id: 'call_1',
      type: 'function',
      function: { name: 'apple', arguments: '{"word":"a"}' },
    };
    const replies = [
      stream(chunk({ tool_calls: [call] }), chunk({}, 'tool_calls')),
      stream(chunk({ content: 'Done.' }), chunk({}, 'stop')),
    ];
    await using endpoint = await scriptedEndpoint(inTurn(...replies));
    const seen = recordingMonitor();
    const asked = callOf(seen.monitor, {
      model: 'qwen-3',
      role: 'curator',
      system: 'Be brief.',
      tools,
    });
    expect(
      await open('openai', { base_url: `${endpoint.url}/v1` }).loop({ ...asked, stepBudget: 4 }),
    ).toEqual({
      text: 'Done.',
      stopReason: 'natural',
    });
    const [first, second] = endpoint.requests;
    expect(first).toMatchObject({
      path: '/v1/chat/completions',
      body: { model: 'qwen-3', temperature: 0, stream_options: { include_usage: true } },
    });
    for (const unknown of ['reasoning_effort', 'store'])
      expect(first?.body).not.toHaveProperty(unknown);
    expect(first?.headers.authorization).toBeUndefined();
    expect(
      first?.body.tools.map((one: { function: { name: string } }) => one.function.name),
    ).toEqual(['apple', 'zebra']);
    expect(second?.body.messages.at(-1)).toEqual({
      role: 'tool',
      tool_call_id: 'call_1',
      content: 'apple ran',
    });
    expect(seen.used[1]).toEqual({
      model: 'qwen-3',
      usage: { input: 10, output: 9, cacheRead: 40, cacheWrite: 0 },
      costUsd: undefined,
    });
  });

  test('returns objects with optional fields, with the configured key', async () => {
    await using endpoint = await scriptedEndpoint(
      inTurn(stream(chunk({ content: '{"name":"orders"}' }), chunk({}, 'stop'))),
    );
    const schema = z.object({ name: z.string(), note: z.string().optional() });
    const backend = open('openai', { base_url: endpoint.url, api_key: 'sk-local' });
    expect(
      await backend.object({ ...callOf(recordingMonitor().monitor), stepBudget: 6, schema }),
    ).toEqual({
      name: 'orders',
    });
    expect(endpoint.requests[0]?.headers.authorization).toBe('Bearer sk-local');
    const { type, json_schema: asked } = endpoint.requests[0]?.body.response_format ?? {};
    expect([type, asked.strict, asked.schema.required]).toEqual(['json_schema', false, ['name']]);
  });

  test.each([
    [429, { type: 'insufficient_quota', code: 'insufficient_quota' }, 'billing'],
    [429, { type: 'requests', code: 'rate_limit_exceeded' }, 'rate_limit'],
    [400, { type: 'invalid_request_error', code: 'context_length_exceeded' }, 'context_too_long'],
    [401, { type: 'invalid_request_error', code: 'invalid_api_key' }, 'auth'],
    [404, { type: 'invalid_request_error', code: 'model_not_found' }, 'model_unavailable'],
    [404, undefined, 'model_unavailable'],
    [401, { type: 'api_error', code: 'constructor' }, 'auth'],
    [422, 'a text', 'execution'],
    [400, { message: 'prompt is too long: 212345 tokens > 200000 maximum' }, 'context_too_long'],
    [
      400,
      { message: 'input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000' },
      'context_too_long',
    ],
    [400, { message: 'Input is too long for requested model.' }, 'context_too_long'],
    [
      400,
      {
        message: "This model's maximum context length is 8192 tokens. However, you requested 9000",
      },
      'context_too_long',
    ],
    [
      400,
      { message: 'The input token count (1200000) exceeds the maximum number of tokens allowed' },
      'context_too_long',
    ],
    [
      400,
      {
        message: 'the request exceeds the available context size',
        type: 'exceed_context_size_error',
      },
      'context_too_long',
    ],
    [
      400,
      {
        message:
          'Prompt contains 40000 tokens, too large for model with 32768 maximum context length',
      },
      'context_too_long',
    ],
    [
      413,
      { message: 'Please reduce the length of the messages or completion.' },
      'context_too_long',
    ],
    [400, { message: 'max_tokens: 40000 is larger than the model allows' }, 'execution'],
    [400, { message: 'Unsupported value: context is not a role' }, 'execution'],
  ])('refuses with %i %j, which is %s', async (status, error, kind) => {
    const body =
      typeof error === 'object' ? { error: { message: 'scripted', ...error } } : (error ?? '');
    await using endpoint = await scriptedEndpoint(() => ({ status, body }));
    const backend = open('openai', { base_url: endpoint.url });
    expect(
      await failureOf(backend.text({ ...callOf(recordingMonitor().monitor), stepBudget: 1 })),
    ).toMatchObject({ kind, status });
    expect(endpoint.requests).toHaveLength(1);
  });

  test('that reports no finish reason has not finished the answer', async () => {
    await using endpoint = await scriptedEndpoint(() => ({
      body: `data: ${JSON.stringify(chunk({ content: 'Half' }))}\n\n`,
    }));
    const backend = open('openai', { base_url: endpoint.url });
    expect(
      await failureOf(backend.text({ ...callOf(recordingMonitor().monitor), stepBudget: 1 })),
    ).toMatchObject({ kind: 'network' });
  });
});

test('OpenAI is asked not to store responses [P2]', async () => {
  expect((await providers.openai.open({ api_key: 'k' }))('gpt-5').provider).toBe(
    'openai.responses',
  );
  const item = {
    type: 'message',
    id: 'm1',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text: '{"n":1}', annotations: [] }],
  };
  const usage = {
    input_tokens: 20,
    input_tokens_details: { cached_tokens: 5 },
    output_tokens: 4,
    output_tokens_details: { reasoning_tokens: 1 },
  };
  const response = {
    id: 'r1',
    object: 'response',
    created_at: 1,
    model: 'gpt-5.2',
    output: [item],
    usage,
  };
  const events = [
    { type: 'response.created', response },
    { type: 'response.output_item.added', output_index: 0, item: { ...item, content: [] } },
    {
      type: 'response.output_text.delta',
      item_id: 'm1',
      output_index: 0,
      content_index: 0,
      delta: '{"n":1}',
    },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response },
  ];
  await using endpoint = await scriptedEndpoint(() => ({
    body: events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''),
  }));
  const gpt = createOpenAI({ apiKey: 'k', baseURL: endpoint.url });
  const seen = recordingMonitor();
  const session = {
    provider: providers.openai,
    caching: {},
    repairModel: 'repair',
    projectDir: '/nowhere',
    isRecording: false,
    secrets: [],
  };
  const call = callOf(seen.monitor, { model: 'gpt-5.2', role: 'reconcile', tools });
  const schema = { type: 'object', properties: { n: { type: 'number' } } };
  const answer = await streamCall({ ...session, model: (id) => Promise.resolve(gpt(id)) }, call, {
    stepBudget: 2,
    schema,
  });
  expect(answer).toMatchObject({ text: '{"n":1}', model: 'gpt-5.2', stopReason: 'natural' });
  expect(seen.used).toEqual([
    {
      model: 'gpt-5.2',
      usage: { input: 15, output: 4, cacheRead: 5, cacheWrite: 0 },
      costUsd: undefined,
    },
  ]);
  const { body } = endpoint.requests[0] ?? {};
  expect(body).toMatchObject({
    store: false,
    reasoning: { effort: 'high' },
    text: { format: { strict: false } },
  });
  expect(body.temperature).toBeUndefined();
  expect(body.tools.map(({ strict }: { strict: boolean }) => strict)).toEqual([false, false]);
});

describe('the gateway', () => {
  const part = (one: object) => `data: ${JSON.stringify(one)}\n\n`;
  const tokens = {
    inputTokens: { total: 30, noCache: 10, cacheRead: 20, cacheWrite: 0 },
    outputTokens: { total: 4, text: 4, reasoning: 0 },
  };
  const answer = [
    { type: 'stream-start', warnings: [] },
    { type: 'response-metadata', id: 'g1', modelId: 'anthropic/claude-sonnet-4.5' },
    { type: 'text-start', id: '0' },
    { type: 'text-delta', id: '0', delta: 'Fine.' },
    { type: 'text-end', id: '0' },
    {
      type: 'finish',
      finishReason: { unified: 'stop', raw: 'end_turn' },
      usage: tokens,
      providerMetadata: { gateway: { cost: '0.0042' } },
    },
  ];

  test('gets the key, the markers and the one-hour header, and reports the cost [K6 P2 P16]', async () => {
    await using endpoint = await scriptedEndpoint(() => ({ body: answer.map(part).join('') }));
    const seen = recordingMonitor();
    const config = { api_key: 'gw-1', base_url: endpoint.url };
    const ask = (model: string, caching?: PromptCaching) =>
      open('gateway', config, caching).text({
        ...callOf(seen.monitor, { model, system: 'Be brief.' }),
        stepBudget: 1,
      });
    expect(await ask('anthropic/claude-sonnet-4.5')).toBe('Fine.');
    await ask('anthropic/claude-sonnet-4.5', { systemTtl: '5m' });
    await ask('openai/gpt-5');
    const [hour, minutes, other] = endpoint.requests;
    expect(hour?.headers).toMatchObject({
      authorization: 'Bearer gw-1',
      'ai-gateway-auth-method': 'api-key',
      'anthropic-beta': 'extended-cache-ttl-2025-04-11',
    });
    expect(hour?.body.prompt[0].providerOptions).toEqual({
      anthropic: { cacheControl: { type: 'ephemeral', ttl: '1h' } },
    });
    expect([minutes?.headers['anthropic-beta'], other?.headers['anthropic-beta']]).toEqual([
      undefined,
      undefined,
    ]);
    expect(other?.body.prompt[0].providerOptions).toBeUndefined();
    expect(seen.used[0]).toEqual({
      model: 'anthropic/claude-sonnet-4.5',
      usage: { input: 10, output: 4, cacheRead: 20, cacheWrite: 0 },
      costUsd: 0.0042,
    });
  });

  test.each([
    [401, 'authentication_error', 'auth'],
    [403, 'forbidden', 'permission'],
    [404, 'model_not_found', 'model_unavailable'],
    [429, 'rate_limit_exceeded', 'rate_limit'],
    [402, 'insufficient_funds', 'billing'],
  ])('refuses with %i %s, which is %s', async (status, type, kind) => {
    await using endpoint = await scriptedEndpoint(() => ({
      status,
      body: { error: { message: 'scripted', type } },
    }));
    const backend = open('gateway', { api_key: 'gw-1', base_url: endpoint.url });
    expect(
      await failureOf(backend.text({ ...callOf(recordingMonitor().monitor), stepBudget: 1 })),
    ).toMatchObject({ kind, status });
    expect(endpoint.requests).toHaveLength(1);
  });
});

const google = { project: 'my-project', location: 'europe-west1' };

/**
 * Google's client with a metadata server on loopback to ask for its token, as on one of Google's
 * machines.
 */
async function withGoogle(work: () => Promise<void>): Promise<void> {
  const headers = { 'metadata-flavor': 'Google' };
  await using metadata = await scriptedEndpoint(() => ({
    headers,
    body: { access_token: 'ya29.scripted', expires_in: 3600, token_type: 'Bearer' },
  }));
  vi.stubEnv('GCE_METADATA_HOST', new URL(metadata.url).host);
  vi.stubEnv('METADATA_SERVER_DETECTION', 'assume-present');
  await work();
}

describe('Vertex', () => {
  test('gets requests at the address of the model, with a token from Google’s credentials [P2]', async () => {
    await withGoogle(async () => {
      await using endpoint = await scriptedEndpoint(inTurn(anthropicTurn([{ text: 'Fine.' }])));
      const backend = open('vertex', { ...google, base_url: `${endpoint.url}/models` });
      expect(
        await backend.text({
          ...callOf(recordingMonitor().monitor, { model: 'claude-sonnet-4-5@20250929' }),
          stepBudget: 1,
        }),
      ).toBe('Fine.');
      const [request] = endpoint.requests;
      expect(request?.path).toBe('/models/claude-sonnet-4-5@20250929:streamRawPredict');
      expect(request?.headers.authorization).toBe('Bearer ya29.scripted');
      expect(request?.body).toMatchObject({
        anthropic_version: 'vertex-2023-10-16',
        temperature: 0,
      });
    });
    const model = (await providers.vertex.open(google))('claude-sonnet-4-5');
    expect(JSON.stringify(model)).toContain(
      'https://europe-west1-aiplatform.googleapis.com/v1/projects/my-project/locations/europe-west1',
    );
  });

  test('without credentials on this machine fails as not logged in, and sends nothing', async () => {
    const home = mkdtempSync(join(tmpdir(), 'ktx-google-'));
    vi.stubEnv('HOME', home);
    vi.stubEnv('CLOUDSDK_CONFIG', home);
    vi.stubEnv('METADATA_SERVER_DETECTION', 'none');
    vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', undefined);
    try {
      await using endpoint = await scriptedEndpoint(() => ({}));
      const backend = open('vertex', { ...google, base_url: endpoint.url });
      expect(
        await failureOf(backend.text({ ...callOf(recordingMonitor().monitor), stepBudget: 1 })),
      ).toMatchObject({ kind: 'auth', exitCode: 4 });
      expect(endpoint.requests).toEqual([]);
    } finally {
      rmSync(home, { recursive: true });
    }
  });
});

describe('Bedrock', () => {
  const aws = {
    AWS_ACCESS_KEY_ID: 'AKIASCRIPTED',
    AWS_SECRET_ACCESS_KEY: 'scripted',
    AWS_BEARER_TOKEN_BEDROCK: undefined,
    AWS_SESSION_TOKEN: undefined,
  };
  beforeEach(() => {
    for (const [name, value] of Object.entries(aws)) vi.stubEnv(name, value);
  });

  /**
   * One message of Amazon's binary event stream: lengths and checksum, headers, payload, checksum.
   */
  function event(type: string, payload: object): Buffer {
    const headers = Object.entries({
      ':event-type': type,
      ':content-type': 'application/json',
      ':message-type': 'event',
    });
    const encoded = headers.map(([name, value]) => {
      const length = Buffer.alloc(2);
      length.writeUInt16BE(value.length);
      return Buffer.concat([
        Buffer.from([name.length]),
        Buffer.from(name),
        Buffer.from([7]),
        length,
        Buffer.from(value),
      ]);
    });
    const [head, body] = [Buffer.concat(encoded), Buffer.from(JSON.stringify(payload))];
    const uint32 = (value: number) => {
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32BE(value);
      return bytes;
    };
    const prelude = Buffer.concat([uint32(head.length + body.length + 16), uint32(head.length)]);
    const message = Buffer.concat([prelude, uint32(crc32(prelude)), head, body]);
    return Buffer.concat([message, uint32(crc32(message))]);
  }

  test('gets requests signed with AWS credentials, with cache markers for Claude [P2]', async () => {
    const body = Buffer.concat([
      event('messageStart', { role: 'assistant' }),
      event('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Fine.' } }),
      event('contentBlockStop', { contentBlockIndex: 0 }),
      event('messageStop', { stopReason: 'end_turn' }),
      event('metadata', {
        usage: { inputTokens: 12, outputTokens: 3, totalTokens: 15 },
        metrics: { latencyMs: 1 },
      }),
    ]);
    await using endpoint = await scriptedEndpoint(() => ({
      headers: { 'content-type': 'application/vnd.amazon.eventstream' },
      body,
    }));
    const seen = recordingMonitor();
    const backend = open('bedrock', { region: 'eu-west-1', base_url: endpoint.url });
    const ask = (model: string) =>
      backend.text({ ...callOf(seen.monitor, { model, system: 'Be brief.' }), stepBudget: 1 });
    expect(await ask('eu.anthropic.claude-sonnet-4-5-20250929-v1:0')).toBe('Fine.');
    expect(await ask('amazon.nova-lite-v1:0')).toBe('Fine.');
    const [claude, nova] = endpoint.requests;
    expect(claude?.path).toBe(
      '/model/eu.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream',
    );
    expect(claude?.headers.authorization).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIASCRIPTED\/\d+\/eu-west-1\/bedrock\//,
    );
    expect(claude?.body.system).toEqual([
      { text: 'Be brief.' },
      { cachePoint: { type: 'default' } },
    ]);
    expect(nova?.body.system).toEqual([{ text: 'Be brief.' }]);
    expect(seen.used[0]?.usage).toEqual({ input: 12, output: 3, cacheRead: 0, cacheWrite: 0 });
  });

  test.each([
    [403, 'UnrecognizedClientException', 'auth'],
    [403, 'AccessDeniedException', 'permission'],
    [404, 'ResourceNotFoundException', 'model_unavailable'],
    [429, 'ThrottlingException', 'rate_limit'],
  ])('refuses with %i %s, which is %s', async (status, type, kind) => {
    const headers = { 'x-amzn-errortype': `${type}:http://internal.amazon.com/` };
    await using endpoint = await scriptedEndpoint(() => ({
      status,
      headers,
      body: { message: 'scripted' },
    }));
    const backend = open('bedrock', { region: 'eu-west-1', base_url: endpoint.url });
    expect(
      await failureOf(backend.text({ ...callOf(recordingMonitor().monitor), stepBudget: 1 })),
    ).toMatchObject({ kind, status });
  });

  test('without credentials on this machine fails as not logged in, and sends nothing', async () => {
    vi.stubEnv('AWS_ACCESS_KEY_ID', undefined);
    await using endpoint = await scriptedEndpoint(() => ({}));
    const backend = open('bedrock', { region: 'eu-west-1', base_url: endpoint.url });
    expect(
      await failureOf(backend.text({ ...callOf(recordingMonitor().monitor), stepBudget: 1 })),
    ).toMatchObject({ kind: 'auth', exitCode: 4 });
    expect(endpoint.requests).toEqual([]);
  });
});

test('a probe is one small request without retries, and passes if the answer is cut off [E10 E16 E17]', async () => {
  const cut = anthropicTurn([{ text: 'rea' }], { stop: 'max_tokens' });
  await using endpoint = await scriptedEndpoint(inTurn(cut, { status: 529, body: '' }));
  const backend = open('anthropic', { api_key: 'k', base_url: endpoint.url });
  const signal = new AbortController().signal;
  expect(await backend.probe('claude-sonnet-4-5', signal)).toMatchObject({
    model: 'claude-sonnet-4-5-20250929',
    account: { provider: 'Anthropic API' },
  });
  expect(endpoint.requests[0]?.body.max_tokens).toBe(64);
  expect(endpoint.requests[0]?.body.tools).toBeUndefined();
  expect(await failureOf(backend.probe('claude-sonnet-4-5', signal))).toMatchObject({
    kind: 'overloaded',
  });
  expect(endpoint.requests).toHaveLength(2);
});

describe('a stream of the Messages protocol', () => {
  const turn = anthropicTurn([{ text: 'All is well.' }]);
  const [beforeEnd = ''] = turn.body.split('event: message_stop');
  const ask = async (reply: Reply) => {
    await using endpoint = await scriptedEndpoint(inTurn(reply));
    const backend = open('anthropic', { api_key: 'k', base_url: endpoint.url });
    return await backend.text({ ...callOf(recordingMonitor().monitor), stepBudget: 1 });
  };

  test('is whole once the provider has said why it ends, whatever follows', async () => {
    const overloaded =
      'event: error\ndata: {"type":"error","error":{"type":"overloaded_error"}}\n\n';
    for (const body of [beforeEnd, beforeEnd + overloaded])
      expect(await ask({ ...turn, body })).toBe('All is well.');
    expect(await ask({ ...turn, body: beforeEnd, hangs: true })).toBe('All is well.');
  });

  test('that breaks off before, or begins with a broken line, failed on its way', async () => {
    const [start = ''] = turn.body.split('event: message_delta');
    expect(await failureOf(ask({ ...turn, body: start }))).toMatchObject({ kind: 'network' });
    const body = `data: {"type": "content_blo\n\n${turn.body}`;
    expect(await failureOf(ask({ ...turn, body }))).toMatchObject({ kind: 'network' });
  });

  test('that ends for a call that it does not have failed, and its tokens count', async () => {
    await using endpoint = await scriptedEndpoint(
      inTurn(anthropicTurn([{ text: 'I call.' }], { stop: 'tool_use' })),
    );
    const { monitor, used } = recordingMonitor();
    const backend = open('anthropic', { api_key: 'k', base_url: endpoint.url });
    const failed = backend.text({ ...callOf(monitor), stepBudget: 1 });
    expect(await failureOf(failed)).toMatchObject({ kind: 'network' });
    expect(used).toMatchObject([{ usage: { input: 100, cacheRead: 30, cacheWrite: 20 } }]);
  });
});
