import type { Mutant } from './mutant.ts';

const port = ['llm/embeddings.test.ts'];
const project = ['project/embeddings.test.ts'];
const names = ['scan/name-meanings.test.ts'];
const store = ['llm/vector-store.test.ts'];
const spans = ['chat/telemetry.test.ts', 'ingest/run-spans.test.ts'];

/**
 * Texts that become vectors: what is sent, what is paid, what is kept; and the spans of model
 * calls.
 */
export const embeddingMutants: readonly Mutant[] = [
  {
    name: 'embeddings-unapproved',
    file: 'project/open/llm.ts',
    find: 'const secret = await input.requireEmbeddings();',
    replace: "const secret = () => 'sk';",
    why: 'Names and values go to a provider that nobody approved.',
    tests: project,
  },
  {
    name: 'embeddings-egress',
    file: 'llm/embeddings/embed-texts.ts',
    find: 'recordPrompt: () => record(values)',
    replace: 'recordPrompt: () => undefined',
    why: 'Values that are embedded are missing in the ledger.',
    tests: port,
  },
  {
    name: 'embeddings-order',
    file: 'llm/ai-sdk/embedding-model.ts',
    find: 'const vector = byIndex.get(index);',
    replace: 'const vector = embeddings[index];',
    why: 'A provider that answers in another order gives each text the vector of another.',
    tests: port,
  },
  {
    name: 'embeddings-length',
    file: 'llm/embeddings/check-vectors.ts',
    find: 'if (vector.length !== expected)',
    replace: 'if (vector.length > expected)',
    why: 'Vectors of another length are compared.',
    tests: port,
  },
  {
    name: 'embeddings-zeros',
    file: 'llm/embeddings/check-vectors.ts',
    find: 'if (numbers.every((number) => number === 0))',
    replace: 'if (numbers.length === 0)',
    why: 'A vector of zeros has no direction: every similarity is NaN.',
    tests: port,
  },
  {
    name: 'embeddings-halves',
    file: 'llm/embeddings/embed-texts.ts',
    find: 'if (batch.length > 1 && mayBeTooLarge(error))',
    replace: 'if (batch.length > 1 && isContextTooLong(error))',
    why: 'A server with small batches refuses every batch.',
    tests: port,
  },
  {
    name: 'embeddings-cut',
    file: 'llm/embeddings/embed-texts.ts',
    find: 'while (next >= length) next /= 2;',
    replace: 'next = length / 2;',
    why: 'The vector of a long text depends on what the text was cut to before.',
    tests: port,
  },
  {
    name: 'embeddings-key',
    file: 'llm/ai-sdk/embedding-model.ts',
    find: "[options.settings['api_key'] ?? ''].filter((secret) => secret !== '')",
    replace: '[]',
    why: 'A provider that quotes the key puts it into the error.',
    tests: port,
  },
  {
    name: 'embeddings-names-failed',
    file: 'scan/scan.ts',
    find: 'key: compared.meanings === undefined ? keyWith() : key',
    replace: 'key',
    why: 'After a failure the scan never compares names by their meaning again.',
    tests: names,
  },
  {
    name: 'embeddings-names-stored',
    file: 'llm/embeddings/embed-with-store.ts',
    find: 'store.save(text, vector);',
    replace: '',
    why: 'Every scan pays for every name again.',
    tests: [...names, ...store],
  },
  {
    name: 'vectors-other-model',
    file: 'llm/embeddings/vector-store.ts',
    find: "'DELETE FROM vectors WHERE model NOT LIKE ? OR used < ?'",
    replace: "'DELETE FROM vectors WHERE model = ? OR used < ?'",
    why: 'Vectors of a model that is no longer used stay for ever.',
    tests: store,
  },
  {
    name: 'vectors-sealed',
    file: 'llm/embeddings/vector-store.ts',
    find: 'insert.run(model, keyedHash(db, text), sealBytes(db, packVector(vector)), today);',
    replace: 'insert.run(model, keyedHash(db, text), packVector(vector), today);',
    why: 'A vector gives away its text, and lies in the clear.',
    tests: store,
  },
  {
    name: 'spans-requests',
    file: 'llm/governor/active-call.ts',
    find: 'this.trace.requestSent(isAnswering);',
    replace: '',
    why: 'A call of several requests has one span.',
    tests: spans,
  },
  {
    name: 'spans-below',
    file: 'llm/telemetry/run-trace.ts',
    find: '{ traceId: root.traceId, spanId: stage.spanId }',
    replace: '{ traceId: root.traceId, spanId: root.spanId }',
    why: 'The spans of calls are not below their stage.',
    tests: ['ingest/run-spans.test.ts'],
  },
];
