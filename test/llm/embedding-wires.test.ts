import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { embeddingsConfigSchema } from '../../src/llm/ai-sdk/embedding-providers.ts';
import { llmConfigSchema } from '../../src/llm/config.ts';
import { openEmbeddings } from '../../src/llm/embeddings/open.ts';
import { openSpending, runSpendingLimit } from '../../src/llm/governor/spending.ts';
import type { CallRecord } from '../../src/llm/governor/usage.ts';
import type { EmbeddingPurpose } from '../../src/llm/port/embedding.ts';
import { vectorOf } from '../support/embedding-endpoint.ts';
import { failureOf, type Reply, scriptedEndpoint, type SeenRequest } from './ai-sdk-endpoint.ts';

/** One provider as it is on the wire. */
interface EmbeddingWire {
  readonly model: string;
  /** What `ktx.yaml` has beside the provider, the model and the address. */
  readonly settings: object;
  /** The path below the endpoint. */
  readonly path: string;
  readonly headers: Readonly<Record<string, unknown>>;
  /** Texts of one request at most. */
  readonly mostTexts: number;
  readonly textsOf: (request: SeenRequest) => readonly string[];
  readonly purposeOf?: (request: SeenRequest) => unknown;
  readonly purposes?: Readonly<Record<EmbeddingPurpose, string>>;
  readonly dimensionsOf: (request: SeenRequest) => unknown;
  readonly answer: (vectors: readonly (readonly number[])[]) => Reply;
  /** As the provider says that the account may not. */
  readonly refusal: object;
}

const tokensPerText = 7;
const signed = {
  authorization: expect.stringMatching(/^AWS4-HMAC-SHA256 Credential=AKIAMADEUP\//),
};
const bedrock = { settings: { region: 'eu-west-1' }, headers: signed } as const;
const refusedByAws = {
  message: 'You do not have access to the model with the specified model ID.',
};

const wires: Readonly<Record<string, EmbeddingWire>> = {
  'vertex text-embedding-005': {
    model: 'text-embedding-005',
    settings: { project: 'test-project', location: 'europe-west1' },
    path: '/models/text-embedding-005:predict',
    headers: { authorization: 'Bearer made-up' },
    mostTexts: 250,
    textsOf: ({ body }) => body.instances.map(({ content }: { content: string }) => content),
    purposeOf: ({ body }) => body.instances[0].task_type,
    purposes: {
      document: 'RETRIEVAL_DOCUMENT',
      query: 'RETRIEVAL_QUERY',
      similarity: 'SEMANTIC_SIMILARITY',
    },
    dimensionsOf: ({ body }) => body.parameters.outputDimensionality,
    answer: (vectors) => ({
      body: {
        predictions: vectors.map((values) => ({
          embeddings: { values, statistics: { token_count: tokensPerText } },
        })),
      },
    }),
    refusal: { error: { code: 403, message: 'Permission denied.', status: 'PERMISSION_DENIED' } },
  },
  gateway: {
    model: 'openai/text-embedding-3-small',
    settings: { api_key: 'env:KEY' },
    path: '/embedding-model',
    headers: {
      authorization: 'Bearer sk-made-up',
      'ai-model-id': 'openai/text-embedding-3-small',
    },
    mostTexts: 512,
    textsOf: ({ body }) => body.values,
    dimensionsOf: ({ body }) => body.dimensions,
    answer: (vectors) => ({
      body: {
        embeddings: vectors,
        usage: { tokens: tokensPerText * vectors.length },
        providerMetadata: { gateway: { cost: '0.25' } },
      },
    }),
    refusal: { error: { message: 'Not allowed.', type: 'forbidden' } },
  },
  'bedrock titan': {
    ...bedrock,
    model: 'amazon.titan-embed-text-v2:0',
    path: '/model/amazon.titan-embed-text-v2%3A0/invoke',
    mostTexts: 1,
    textsOf: ({ body }) => [body.inputText],
    dimensionsOf: ({ body }) => body.dimensions,
    answer: ([embedding]) => ({ body: { embedding, inputTextTokenCount: tokensPerText } }),
    refusal: refusedByAws,
  },
  'bedrock cohere': {
    ...bedrock,
    model: 'cohere.embed-v4:0',
    path: '/model/cohere.embed-v4%3A0/invoke',
    mostTexts: 96,
    textsOf: ({ body }) => body.texts,
    purposeOf: ({ body }) => body.input_type,
    purposes: { document: 'search_document', query: 'search_query', similarity: 'clustering' },
    dimensionsOf: ({ body }) => body.output_dimension,
    answer: (float) => ({
      headers: { 'x-amzn-bedrock-input-token-count': String(tokensPerText * float.length) },
      body: { embeddings: { float } },
    }),
    refusal: refusedByAws,
  },
  'bedrock nova': {
    ...bedrock,
    model: 'amazon.nova-2-multimodal-embeddings-v1:0',
    path: '/model/amazon.nova-2-multimodal-embeddings-v1%3A0/invoke',
    mostTexts: 1,
    textsOf: ({ body }) => [body.singleEmbeddingParams.text.value],
    purposeOf: ({ body }) => body.singleEmbeddingParams.embeddingPurpose,
    purposes: { document: 'GENERIC_INDEX', query: 'TEXT_RETRIEVAL', similarity: 'CLUSTERING' },
    dimensionsOf: ({ body }) => body.singleEmbeddingParams.embeddingDimension,
    answer: ([embedding]) => ({
      body: {
        embeddings: [{ embeddingType: 'TEXT', embedding }],
        inputTokenCount: tokensPerText,
      },
    }),
    refusal: refusedByAws,
  },
};

const variables = {
  GOOGLE_CLOUD_PROJECT: 'test-project',
  METADATA_SERVER_DETECTION: 'assume-present',
  AWS_ACCESS_KEY_ID: 'AKIAMADEUP',
  AWS_SECRET_ACCESS_KEY: 'made-up',
  AWS_BEARER_TOKEN_BEDROCK: undefined,
  AWS_SESSION_TOKEN: undefined,
};
const before = { ...process.env };
let google: Awaited<ReturnType<typeof scriptedEndpoint>>;
beforeAll(async () => {
  google = await scriptedEndpoint(({ path }) => ({
    headers: { 'metadata-flavor': 'Google', 'content-type': 'application/json' },
    body: path.includes('/token')
      ? { access_token: 'made-up', expires_in: 3600, token_type: 'Bearer' }
      : 'test-project',
  }));
  for (const [name, value] of Object.entries(variables))
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  process.env['GCE_METADATA_HOST'] = new URL(google.url).host;
});
afterAll(async () => {
  for (const name of [...Object.keys(variables), 'GCE_METADATA_HOST'])
    if (before[name] === undefined) delete process.env[name];
    else process.env[name] = before[name];
  await google[Symbol.asyncDispose]();
});

async function opened(
  name: string,
  wire: EmbeddingWire,
  rest: { url: string; dimensions?: number },
) {
  const { url, dimensions } = rest;
  const [provider] = name.split(' ');
  const records: CallRecord[] = [];
  const config = embeddingsConfigSchema.parse({
    provider,
    model: wire.model,
    base_url: url,
    dimensions,
    ...wire.settings,
  });
  const llm = llmConfigSchema.parse({
    prices: { [wire.model]: { input: 1, output: 0 } },
    retries: { first_pause_seconds: 0.02, attempts: 3 },
  });
  const embeddings = await openEmbeddings({
    config,
    llm,
    projectDir: undefined,
    env: {},
    run: 'test',
    spending: openSpending(runSpendingLimit(llm, undefined)),
    secret: () => 'sk-made-up',
    record: (record) => records.push(record),
    warn: () => undefined,
    onPause: () => undefined,
  });
  const embed = async (texts: readonly string[], purpose: EmbeddingPurpose = 'document') =>
    (
      await embeddings.embed({
        texts: texts.map((text) => ({ text, values: [] })),
        purpose,
        stage: 'test',
      })
    ).vectors.map((vector) => [...(vector ?? [])]);
  return { embed, records };
}

describe.each(Object.entries(wires))('embeddings on the wire of %s', (name, wire) => {
  const answers = (request: SeenRequest, dimensions?: number): Reply =>
    wire.answer(wire.textsOf(request).map((text) => vectorOf(text, dimensions)));

  test('have the path, the account, the purpose and the length that were asked for', async () => {
    await using endpoint = await scriptedEndpoint((request) => answers(request, 256));
    const { embed } = await opened(name, wire, { url: endpoint.url, dimensions: 256 });
    for (const purpose of ['document', 'query', 'similarity'] as const) {
      expect(await embed(['an order'], purpose)).toEqual([vectorOf('an order', 256)]);
      const request = endpoint.requests.at(-1);
      if (request === undefined) throw new Error('nothing was asked');
      expect(request.path).toBe(wire.path);
      expect(request.headers).toMatchObject(wire.headers);
      expect(wire.dimensionsOf(request)).toBe(256);
      expect(wire.purposeOf?.(request)).toBe(wire.purposes?.[purpose]);
    }
  });

  test('come in the order of the texts, in batches that the model takes, with what they cost', async () => {
    await using endpoint = await scriptedEndpoint((request) => answers(request));
    const { embed, records } = await opened(name, wire, endpoint);
    const texts = Array.from(
      { length: 2 * wire.mostTexts + 1 },
      (_, n) => `word ${'x'.repeat(n % 7)} ${n}`,
    );
    expect(await embed(texts)).toEqual(texts.map((text) => vectorOf(text)));
    const sizes = endpoint.requests.map((request) => wire.textsOf(request).length);
    expect(sizes.toSorted((a, b) => b - a)).toEqual([wire.mostTexts, wire.mostTexts, 1]);
    const used = records.map(({ metrics }) => metrics);
    const tokens = used.reduce((sum, { usage }) => sum + (usage[wire.model]?.input ?? 0), 0);
    expect(tokens).toBe(tokensPerText * texts.length);
    const cost = used.reduce((sum, { costUsd }) => sum + (costUsd ?? Number.NaN), 0);
    // The gateway says what a request has cost; the others have a price.
    expect(cost).toBeCloseTo(name === 'gateway' ? 3 * 0.25 : tokens / 1e6, 9);
  });

  test('are asked for again after a failure that passes, and not after a refusal', async () => {
    await using endpoint = await scriptedEndpoint((request, n) =>
      n === 0
        ? { status: 503, body: { message: 'Try again.', error: { message: 'Try again.' } } }
        : n === 1
          ? answers(request)
          : { status: 403, body: wire.refusal },
    );
    const { embed, records } = await opened(name, wire, endpoint);
    expect(await embed(['an order'])).toEqual([vectorOf('an order')]);
    expect(records[0]).toMatchObject({ outcome: 'ok', metrics: { apiCalls: 2 } });
    expect(await failureOf(embed(['another']))).toMatchObject({
      kind: expect.stringMatching(/^(?:permission|auth)$/),
      exitCode: 4,
    });
    expect(endpoint.requests).toHaveLength(3);
  });
});
