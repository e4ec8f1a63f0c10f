import type { SentValues } from '../egress/sent-values.ts';
import type { FinishedCall } from '../telemetry/call-spans.ts';
import type { CallMetrics } from './runtime.ts';

/** What vectors are compared for. Some models answer differently for each. */
export type EmbeddingPurpose = 'document' | 'query' | 'similarity';

/** A text, and the values of warehouses in it. They are recorded before the text is sent. */
export interface EmbeddingText {
  readonly text: string;
  readonly values: readonly SentValues[];
}

export interface KtxEmbedInput {
  readonly texts: readonly EmbeddingText[];
  readonly purpose: EmbeddingPurpose;
  /** What the call is for, as the ledger of what leaves the machine names it. */
  readonly stage: string;
  readonly signal?: AbortSignal | undefined;
  /** Called once for each request, also if it failed. */
  readonly onMetrics?: ((metrics: CallMetrics) => void) | undefined;
  /** Called once for each request, with what telemetry shows of it. */
  readonly onCall?: ((call: FinishedCall) => void) | undefined;
}

export interface EmbeddedTexts {
  /**
   * In the order of the texts, all of one length. Undefined for a text of white space, which is
   * never sent.
   */
  readonly vectors: readonly (Float32Array | undefined)[];
  /** How many texts were too long for the model. Their vectors stand for how they begin. */
  readonly shortened: number;
}

/**
 * Turns texts into vectors. It is a port of its own: a project can have embeddings without a
 * language model, and a language model without embeddings.
 */
export interface KtxEmbeddingPort {
  readonly provider: string;
  readonly model: string;
  /**
   * Length of the vectors; undefined if `ktx.yaml` does not say it and nothing was embedded yet.
   */
  readonly dimensions: number | undefined;
  /**
   * Vectors with equal fingerprints and purposes can be compared with each other, and no others.
   */
  readonly fingerprint: string;
  /** Throws an `LlmError`, or a `UserError` if the money of the run is spent. */
  embed(input: KtxEmbedInput): Promise<EmbeddedTexts>;
}
