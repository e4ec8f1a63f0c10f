import type { EmbeddingBackend } from '../ai-sdk/embedding-model.ts';
import { openCallRecord } from '../governor/record-values.ts';
import { runCall, type CallContext } from '../governor/run-call.ts';
import type { EmbeddedTexts, EmbeddingText, KtxEmbedInput } from '../port/embedding.ts';
import { isContextTooLong, LlmError } from '../port/error.ts';
import type { FinishedCall } from '../telemetry/call-spans.ts';
import { checkVectors, type VectorLength } from './check-vectors.ts';
import { embeddingFailure } from './failure.ts';

export interface EmbeddingContext extends CallContext {
  readonly backend: EmbeddingBackend;
  readonly model: string;
  /** That of the vectors, known from the first answer on. */
  readonly length: VectorLength;
}

/**
 * Texts longer than this are cut before they are sent: no model takes much more. In UTF-16 units.
 */
const longestText = 24_000;
/** A model that refuses a text of this length refuses it for another reason. */
const shortestCut = 700;
/** OpenAI takes 300,000 tokens in a request; a byte is a token at most. */
const mostBytes = 250_000;

interface NumberedText extends EmbeddingText {
  /** Its place among the texts of the caller. */
  readonly index: number;
}

/** Everything that one call of the port works on. */
interface EmbeddingJob {
  readonly context: EmbeddingContext;
  readonly input: KtxEmbedInput;
  readonly vectors: (Float32Array | undefined)[];
  readonly shortened: Set<number>;
}

/**
 * Embeds texts in batches, as many at once as the gate lets through. After a failure no further
 * batch starts.
 */
export async function embedTexts(
  context: EmbeddingContext,
  input: KtxEmbedInput,
): Promise<EmbeddedTexts> {
  const vectors = input.texts.map((): Float32Array | undefined => undefined);
  const job: EmbeddingJob = { context, input, vectors, shortened: new Set() };
  const texts = input.texts.flatMap((text, index) =>
    text.text.trim() === '' ? [] : [cutText(job, { ...text, index }, longestText)],
  );
  // Nothing to send: not even the provider's package is loaded.
  const most = texts.length === 0 ? 1 : await context.backend.mostTexts();
  const batches = splitIntoBatches(texts, most);
  const embedNext = async (): Promise<void> => {
    for (let batch = batches.shift(); batch !== undefined; batch = batches.shift()) {
      try {
        await embedBatch(job, batch);
      } catch (error) {
        batches.length = 0;
        throw error;
      }
    }
  };
  const workers = Math.min(context.concurrency, batches.length);
  const ends = await Promise.allSettled(Array.from({ length: workers }, embedNext));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  return { vectors, shortened: job.shortened.size };
}

function splitIntoBatches(texts: readonly NumberedText[], most: number): NumberedText[][] {
  const batches: NumberedText[][] = [];
  let bytes = 0;
  for (const text of texts) {
    const size = Buffer.byteLength(text.text);
    const batch = batches.at(-1);
    if (batch === undefined || batch.length >= most || bytes + size > mostBytes) {
      batches.push([text]);
      bytes = size;
    } else {
      batch.push(text);
      bytes += size;
    }
  }
  return batches;
}

/**
 * Sends one batch. A batch that is too large goes out in two halves; a text that is too long goes
 * out shorter.
 */
async function embedBatch(job: EmbeddingJob, batch: readonly NumberedText[]): Promise<void> {
  try {
    const vectors = await requestVectors(job, batch);
    batch.forEach(({ index }, at) => (job.vectors[index] = vectors[at]));
  } catch (error) {
    const [only] = batch;
    if (batch.length > 1 && mayBeTooLarge(error)) {
      const middle = Math.ceil(batch.length / 2);
      await embedBatch(job, batch.slice(0, middle));
      return embedBatch(job, batch.slice(middle));
    }
    if (batch.length !== 1 || only === undefined || !isContextTooLong(error)) throw error;
    const next = nextLength(only.text.length);
    if (next < shortestCut) throw error;
    await embedBatch(job, [cutText(job, only, next)]);
  }
}

/** Providers have no common name for a batch with too many texts: any bad request may be one. */
function mayBeTooLarge(error: unknown): boolean {
  if (isContextTooLong(error)) return true;
  return (
    error instanceof LlmError &&
    error.kind === 'execution' &&
    (error.status === 400 || error.status === 422)
  );
}

/**
 * Half of `longestText`, a quarter and so on. What is sent depends on the text alone, not on the
 * other texts.
 */
function nextLength(length: number): number {
  let next = longestText;
  while (next >= length) next /= 2;
  return Math.floor(next);
}

function cutText(job: EmbeddingJob, text: NumberedText, length: number): NumberedText {
  if (text.text.length <= length) return { ...text, text: text.text.toWellFormed() };
  job.shortened.add(text.index);
  // The cut may divide a character that has two units.
  const start = text.text.slice(0, length).replace(/[\ud800-\udbff]$/, '');
  return { ...text, text: start.toWellFormed() };
}

/** One governed call: one request, unless it fails and is tried again. */
async function requestVectors(
  { context, input }: EmbeddingJob,
  batch: readonly NumberedText[],
): Promise<Float32Array[]> {
  const { backend, model, length } = context;
  const { purpose, stage, signal, onMetrics, onCall } = input;
  const record = openCallRecord(context, { stage, model: () => model });
  const values = batch.flatMap((text) => text.values);
  const request = {
    role: 'default',
    tools: {},
    stage,
    signal,
    onMetrics,
    onCall: (call: FinishedCall) =>
      onCall?.({ ...call, role: 'embedding', dimensions: length.current }),
    promptLength: batch.reduce((sum, { text }) => sum + text.length, 0),
    recordPrompt: () => record(values),
  } as const;
  const { value, failure } = await runCall(context, request, async ({ monitor }) => {
    const texts = batch.map(({ text }) => text);
    const answer = await backend.embed({ texts, purpose, monitor });
    const vectors = checkVectors(answer, texts.length, length);
    monitor.stepFinished();
    return vectors;
  });
  if (value === undefined) throw embeddingFailure(failure, model);
  return value;
}
