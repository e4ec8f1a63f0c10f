import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { embeddingsConfigSchema } from '../../src/llm/ai-sdk/embedding-providers.ts';
import { llmConfigSchema } from '../../src/llm/config.ts';
import type { EgressEntry } from '../../src/llm/egress/ledger.ts';
import { openEmbeddings } from '../../src/llm/embeddings/open.ts';
import { openSpending, runSpendingLimit } from '../../src/llm/governor/spending.ts';
import type { CallRecord } from '../../src/llm/governor/usage.ts';
import {
  openEmbeddingEndpoint,
  refuse,
  vectorOf,
  vectors,
  type VectorsAnswer,
} from '../support/embedding-endpoint.ts';
import { failureOf } from './ai-sdk-endpoint.ts';

interface Around {
  readonly url: string;
  readonly dimensions?: number;
  readonly llm?: object;
  readonly budget?: number;
  readonly egress?: (entry: EgressEntry) => void;
}

async function opened({ url, dimensions, llm = {}, budget, egress }: Around) {
  const records: CallRecord[] = [];
  const pauses: Date[] = [];
  const prices = { small: { input: 1, output: 0 } };
  const retries = { first_pause_seconds: 0.05 };
  const llmConfig = llmConfigSchema.parse({ prices, retries, ...llm });
  const spending = openSpending(runSpendingLimit(llmConfig, budget));
  const embeddings = await openEmbeddings({
    config: embeddingsConfigSchema.parse({
      provider: 'openai',
      model: 'small',
      api_key: 'env:KEY',
      base_url: url,
      dimensions,
    }),
    llm: llmConfig,
    projectDir: undefined,
    env: {},
    run: 'test',
    budget,
    spending,
    secret: () => 'sk-made-up',
    record: (record) => records.push(record),
    egress,
    warn: () => undefined,
    onPause: ({ until }) => pauses.push(until),
  });
  const embed = (texts: readonly string[], signal?: AbortSignal) =>
    embeddings.embed({
      texts: texts.map((text) => ({ text, values: [] })),
      purpose: 'document',
      stage: 'test',
      signal,
    });
  return { embeddings, embed, records, pauses, spending };
}

const words = (count: number): string[] =>
  Array.from({ length: count }, (_, n) => `word ${n} ${'abc'.charAt(n % 3)}`);

describe('embeddings', () => {
  test('come back in the order of the texts, in batches that the provider takes', async () => {
    await using endpoint = await openEmbeddingEndpoint();
    const { embed, embeddings, records } = await opened(endpoint);
    const texts = words(1200);
    const { vectors: found, shortened } = await embed(texts);
    expect(
      endpoint.requests.map(({ texts: sent }) => sent.length).toSorted((a, b) => a - b),
    ).toEqual([176, 512, 512]);
    expect(found.map((vector) => [...(vector ?? [])])).toEqual(texts.map((text) => vectorOf(text)));
    expect(found[0]).toBeInstanceOf(Float32Array);
    expect(shortened).toBe(0);
    expect(embeddings.dimensions).toBe(64);
    expect(endpoint.requests[0]?.headers['authorization']).toBe('Bearer sk-made-up');
    expect(endpoint.requests[0]?.dimensions).toBeUndefined();
    expect(records).toHaveLength(3);
    expect(records[0]).toMatchObject({
      role: 'embedding',
      backend: 'openai',
      model: 'small',
      outcome: 'ok',
    });
    const tokens = records.reduce(
      (sum, { metrics }) => sum + (metrics.usage['small']?.input ?? 0),
      0,
    );
    expect(tokens).toBe(1200);
    const cost = records.reduce((sum, { metrics }) => sum + (metrics.costUsd ?? 0), 0);
    expect(cost).toBeCloseTo(1200 / 1_000_000, 9);
  });

  test('are put in order by the numbers that the provider gave them', async () => {
    await using endpoint = await openEmbeddingEndpoint((asked) => {
      const answer = vectors(asked);
      const { data } = answer.body as { data: unknown[] };
      return { body: { data: data.toReversed() } };
    });
    const { embed } = await opened(endpoint);
    const { vectors: found } = await embed(['alpha', 'beta', 'gamma']);
    expect([...(found[0] ?? [])]).toEqual(vectorOf('alpha'));
    expect([...(found[2] ?? [])]).toEqual(vectorOf('gamma'));
  });

  test('of the same texts are the same each time, and so is what is sent', async () => {
    await using endpoint = await openEmbeddingEndpoint();
    const { embed } = await opened(endpoint);
    const texts = words(700);
    const first = await embed(texts);
    const sent = endpoint.requests.map(({ texts: batch }) => batch.join()).sort();
    endpoint.requests.splice(0);
    expect(await embed(texts)).toEqual(first);
    expect(endpoint.requests.map(({ texts: batch }) => batch.join()).sort()).toEqual(sent);
  });

  test('of texts without a word are never asked for', async () => {
    await using endpoint = await openEmbeddingEndpoint();
    const { embed, records } = await opened(endpoint);
    expect(await embed(['', ' \n\t', ' '])).toEqual({
      vectors: [undefined, undefined, undefined],
      shortened: 0,
    });
    expect(await embed([])).toEqual({ vectors: [], shortened: 0 });
    expect(endpoint.requests).toEqual([]);
    expect(records).toEqual([]);
    const { vectors: found } = await embed(['', 'alpha']);
    expect(found.map((vector) => vector !== undefined)).toEqual([false, true]);
    expect(endpoint.requests[0]?.texts).toEqual(['alpha']);
  });

  test('are asked for with the dimensions of ktx.yaml, and a fingerprint tells models apart', async () => {
    await using endpoint = await openEmbeddingEndpoint();
    const { embeddings, embed } = await opened({ ...endpoint, dimensions: 16 });
    const { vectors: found } = await embed(['alpha']);
    expect(found[0]).toHaveLength(16);
    expect(endpoint.requests[0]?.dimensions).toBe(16);
    const same = await opened({ ...endpoint, dimensions: 16 });
    const other = await opened({ ...endpoint, dimensions: 32 });
    expect(same.embeddings.fingerprint).toBe(embeddings.fingerprint);
    expect(other.embeddings.fingerprint).not.toBe(embeddings.fingerprint);
  });

  test('never have more requests at once than llm.concurrency', async () => {
    await using endpoint = await openEmbeddingEndpoint();
    const { embed } = await opened({ ...endpoint, llm: { concurrency: 2 } });
    await embed(words(512 * 6));
    expect(endpoint.requests).toHaveLength(6);
    expect(endpoint.counts.mostAtOnce).toBe(2);
  });
});

describe('a batch', () => {
  test.each([
    ['too many texts', refuse(413)],
    [
      'too many tokens',
      refuse(400, { message: "This model's maximum context length is 8192 tokens" }),
    ],
    ['a bad request without a name', refuse(400, { message: "'input' has too many items" })],
    ['what cannot be processed', refuse(422, { message: 'batch size > 32' })],
  ])('that is refused as %s goes out in halves', async (_, refusal) => {
    await using endpoint = await openEmbeddingEndpoint((asked) =>
      asked.texts.length > 32 ? refusal : vectors(asked),
    );
    const { embed } = await opened(endpoint);
    const texts = words(100);
    const { vectors: found } = await embed(texts);
    expect(found.map((vector) => [...(vector ?? [])])).toEqual(texts.map((text) => vectorOf(text)));
    expect(endpoint.requests.filter(({ texts: sent }) => sent.length <= 32)).toHaveLength(4);
  });

  test('that is a bad request whatever its size fails after a few requests', async () => {
    await using endpoint = await openEmbeddingEndpoint(() =>
      refuse(400, { message: 'This model does not support dimensions.' }),
    );
    const { embed } = await opened(endpoint);
    const failure = await failureOf(embed(words(512)));
    expect(failure.kind).toBe('execution');
    expect(failure.message).toContain('does not support dimensions');
    expect(endpoint.requests).toHaveLength(10);
  });

  test('has at most 250,000 bytes', async () => {
    await using endpoint = await openEmbeddingEndpoint();
    const { embed } = await opened(endpoint);
    await embed(Array.from({ length: 30 }, (_, n) => `${n} ${'ü'.repeat(20_000)}`));
    const sizes = endpoint.requests.map(({ texts }) => Buffer.byteLength(texts.join('')));
    expect(Math.max(...sizes)).toBeLessThanOrEqual(250_000);
    expect(endpoint.requests).toHaveLength(5);
  });
});

describe('a text that is too long', () => {
  test('is cut until the model takes it, whatever stands beside it', async () => {
    const limit = 5000;
    await using endpoint = await openEmbeddingEndpoint((asked) =>
      asked.texts.some((text) => text.length > limit)
        ? refuse(400, { code: 'context_length_exceeded', message: 'too long' })
        : vectors(asked),
    );
    const { embed } = await opened(endpoint);
    const long = `start ${'word '.repeat(20_000)}`;
    const { vectors: found, shortened } = await embed(['alpha', long, 'beta']);
    expect(shortened).toBe(1);
    expect([...(found[0] ?? [])]).toEqual(vectorOf('alpha'));
    expect([...(found[2] ?? [])]).toEqual(vectorOf('beta'));
    const alone = await embed([long]);
    expect(alone.vectors[0]).toEqual(found[1]);
    const taken = endpoint.requests
      .flatMap(({ texts }) => texts)
      .filter((text) => text.length > 1000 && text.length <= limit);
    expect(taken).toEqual([long.slice(0, 3000), long.slice(0, 3000)]);
    expect(
      Math.max(...endpoint.requests.flatMap(({ texts }) => texts.map((text) => text.length))),
    ).toBe(24_000);
  });

  test('is an error if the model refuses even its beginning, and no character is divided', async () => {
    await using endpoint = await openEmbeddingEndpoint(() => refuse(413));
    const { embed } = await opened(endpoint);
    const failure = await failureOf(embed([`a${'😀'.repeat(20_000)}`]));
    expect(failure.kind).toBe('context_too_long');
    expect(failure.hint).toContain('ingest.embeddings');
    const sent = endpoint.requests.flatMap(({ texts }) => texts);
    expect(sent.map((text) => text.length)).toEqual([23_999, 11_999, 5999, 2999, 1499, 749]);
    expect(sent.every((text) => text.isWellFormed())).toBe(true);
  });

  test('has the same length after each cut, also if a cut before it spared a character', async () => {
    await using endpoint = await openEmbeddingEndpoint(() => refuse(413));
    const { embed } = await opened(endpoint);
    await failureOf(embed([`${'a'.repeat(23_999)}${'😀'.repeat(2)}`]));
    const sent = endpoint.requests.flatMap(({ texts }) => texts);
    expect(sent.map((text) => text.length)).toEqual([23_999, 12_000, 6000, 3000, 1500, 750]);
  });
});

describe('an answer', () => {
  const broken = (vector: unknown[]) => (asked: Parameters<typeof vectors>[0]) =>
    vectors(asked, { vectorOf: () => vector });
  test.each<[string, (asked: Parameters<typeof vectors>[0]) => VectorsAnswer, string]>([
    [
      'with too few vectors',
      (asked) => vectors({ ...asked, texts: asked.texts.slice(1) }),
      'invalid_output',
    ],
    [
      'with too many vectors',
      (asked) => vectors({ ...asked, texts: [...asked.texts, 'more'] }),
      'invalid_output',
    ],
    ['of another length than ktx.yaml asks for', broken([1, 2, 3]), 'invalid_output'],
    [
      'with vectors of two lengths',
      (asked) => vectors(asked, { vectorOf: (text) => vectorOf(text, text.length) }),
      'invalid_output',
    ],
    [
      'with a number that 32 bits cannot hold',
      (asked) => ({ body: JSON.stringify(vectors(asked).body).replace('1', '1e39') }),
      'invalid_output',
    ],
    ['with only zeros', broken(Array.from({ length: 64 }, () => 0)), 'invalid_output'],
    [
      'with NaN',
      (asked) => ({ body: JSON.stringify(vectors(asked).body).replace('1', 'NaN') }),
      'network',
    ],
    ['that is cut', (asked) => ({ ...vectors(asked), cut: true }), 'network'],
    [
      'that is a page of HTML',
      () => ({ body: '<html>login</html>', headers: { 'content-type': 'text/html' } }),
      'network',
    ],
    ['with text in place of numbers', broken(['a', 'b']), 'network'],
    [
      'to a wrong key',
      () => refuse(401, { code: 'invalid_api_key', message: 'Incorrect API key: sk-made-up' }),
      'auth',
    ],
    ['about an unknown model', () => refuse(404, { code: 'model_not_found' }), 'model_unavailable'],
    ['about an empty account', () => refuse(429, { code: 'insufficient_quota' }), 'billing'],
  ])('%s is an error that names the model and the setting', async (_, script, kind) => {
    await using endpoint = await openEmbeddingEndpoint((asked) => script(asked));
    const { embed, records } = await opened({
      ...endpoint,
      dimensions: kind === 'invalid_output' ? 64 : undefined,
    });
    const failure = await failureOf(embed(['alpha', 'gamma rays']));
    expect(failure.kind).toBe(kind);
    expect(failure.message).toMatch(/^Embeddings by small: /);
    expect(failure.message).not.toContain('sk-made-up');
    expect(failure.hint).toMatch(/ingest\.embeddings|billing page/);
    expect(records.at(-1)?.outcome).toBe(kind);
  });

  test('that does not count tokens is counted by its bytes', async () => {
    await using endpoint = await openEmbeddingEndpoint((asked) => vectors(asked, { tokens: null }));
    const { embed, records } = await opened(endpoint);
    await embed(['123456789']);
    expect(records[0]?.metrics.usage).toEqual({
      small: { input: 3, output: 0, cacheRead: 0, cacheWrite: 0 },
    });
  });
});

describe('a provider that is busy', () => {
  test('is asked again after its pause, and the pause is shown', async () => {
    await using endpoint = await openEmbeddingEndpoint((asked, n) =>
      n === 1 ? refuse(429, { headers: { 'retry-after': '1' } }) : vectors(asked),
    );
    const { embed, records } = await opened(endpoint);
    const { vectors: found } = await embed(['alpha']);
    expect([...(found[0] ?? [])]).toEqual(vectorOf('alpha'));
    expect(records.map(({ outcome }) => outcome)).toEqual(['ok']);
    expect(records[0]?.metrics.apiCalls).toBe(2);
  });

  test('or broken for a moment is asked again', async () => {
    await using endpoint = await openEmbeddingEndpoint((asked, n) =>
      n === 1 ? refuse(503) : vectors(asked),
    );
    const { embed, records } = await opened(endpoint);
    await embed(['alpha']);
    expect(records[0]?.metrics.apiCalls).toBe(2);
  });

  test('cannot be reached at all', async () => {
    const endpoint = await openEmbeddingEndpoint();
    await endpoint[Symbol.asyncDispose]();
    const { embeddings } = await opened(endpoint);
    const failure = await failureOf(embeddings.probe(new AbortController().signal));
    expect(failure.kind).toBe('network');
    expect(failure.hint).toContain('ingest.embeddings.base_url');
  });
});

describe('a run', () => {
  test('that has spent its money embeds nothing more', async () => {
    await using endpoint = await openEmbeddingEndpoint((asked) =>
      vectors(asked, { tokens: 60_000 }),
    );
    const { embed, spending, records } = await opened({
      ...endpoint,
      budget: 0.05,
      llm: { concurrency: 1, prices: { small: { input: 1, output: 0 } } },
    });
    await expect(embed(words(2000))).rejects.toMatchObject({
      code: 'llm_budget_spent',
      exitCode: 3,
    });
    expect(endpoint.requests).toHaveLength(1);
    expect(spending.left()).toBe(0);
    expect(records.map(({ outcome }) => outcome)).toEqual(['ok', 'llm_budget_spent']);
  });

  test('with a limit and no price for the model fails before anything is sent', async () => {
    await using endpoint = await openEmbeddingEndpoint();
    const failing = opened({ ...endpoint, budget: 1, llm: { prices: {} } });
    await expect(failing).rejects.toMatchObject({ code: 'llm_budget_unknown', exitCode: 2 });
    expect(endpoint.requests).toEqual([]);
  });

  test('that is interrupted ends the request', async () => {
    await using endpoint = await openEmbeddingEndpoint((asked) => ({
      ...vectors(asked),
      body: '{',
      hangs: true,
    }));
    const { embed } = await opened(endpoint);
    const stop = new AbortController();
    const failure = failureOf(embed(words(3000), stop.signal));
    await endpoint.arrived(4);
    stop.abort();
    expect((await failure).kind).toBe('aborted');
    const sent = endpoint.requests.length;
    await sleep(50);
    expect(endpoint.requests).toHaveLength(sent);
    await expect.poll(() => endpoint.counts.abandoned, { timeout: 20_000 }).toBe(sent);
  });

  test('records the values of each text before it is sent, and sends nothing that it cannot record', async () => {
    await using endpoint = await openEmbeddingEndpoint((asked, n) =>
      n === 1 ? refuse(413) : vectors(asked),
    );
    const entries: EgressEntry[] = [];
    const { embeddings } = await opened({
      ...endpoint,
      egress: (entry) => void entries.push(entry),
    });
    const value = (column: string) =>
      ({ connection: 'shop', source: 'orders', column, kind: 'frequent', count: 2 }) as const;
    const texts = [
      { text: 'status: open, closed', values: [value('status')] },
      { text: 'city: Rome, Oslo', values: [value('city')] },
    ];
    await embeddings.embed({ texts, purpose: 'document', stage: 'index' });
    expect(
      entries.map(({ stage, values }) => [stage, ...values.map(({ column }) => column)]),
    ).toEqual([
      ['index', 'status', 'city'],
      ['index', 'status'],
      ['index', 'city'],
    ]);
    expect(entries[0]).toMatchObject({
      backend: 'openai',
      model: 'small',
      host: new URL(endpoint.url).host,
      run: 'test',
    });
    const full = await opened({
      ...endpoint,
      egress: () => {
        throw new Error('disk full');
      },
    });
    const before = endpoint.requests.length;
    await expect(
      full.embeddings.embed({ texts, purpose: 'document', stage: 'index' }),
    ).rejects.toThrow('disk full');
    expect(endpoint.requests).toHaveLength(before);
  });
});

describe('ingest.embeddings', () => {
  const problems = (config: object): number =>
    embeddingsConfigSchema.safeParse(config).error?.issues.length ?? 0;
  test('is strict, and holds no secret', () => {
    const openai = { provider: 'openai', model: 'm', api_key: 'env:KEY' };
    expect(problems(openai)).toBe(0);
    expect(problems({ ...openai, api_key: 'sk-abc' })).toBe(1);
    expect(problems({ ...openai, region: 'eu' })).toBe(1);
    expect(problems({ provider: 'openai', model: 'm' })).toBe(1);
    expect(
      problems({ provider: 'openai', model: 'm', base_url: 'http://localhost:11434/v1' }),
    ).toBe(0);
    expect(problems({ provider: 'claude-code', model: 'm' })).toBe(1);
    expect(problems({ provider: 'bedrock', model: 'm', region: 'eu-west-1' })).toBe(0);
    expect(problems({ provider: 'vertex', model: 'm', project: 'p', location: 'global' })).toBe(0);
    expect(problems({ provider: 'gateway', model: 'm', api_key: 'env:KEY' })).toBe(0);
    expect(problems({ ...openai, dimensions: 0 })).toBe(1);
  });
});
