import { backendProfiles, type BackendName } from '../backends.ts';
import type { TracedCall, TracedRequest } from './call-trace.ts';
import type { CallRecord } from '../governor/usage.ts';
import type { TokenUsage } from '../port/runtime.ts';
import {
  newSpanId,
  otlpAttributes,
  spanTimes,
  type AttributeValues,
  type OtlpSpan,
  type SpanParent,
} from './otlp.ts';

/** A call that has ended: what it was for, how it ended, and its requests. */
export interface FinishedCall extends Pick<CallRecord, 'run' | 'role' | 'model' | 'outcome'> {
  readonly backend: BackendName;
  readonly stage: string | undefined;
  readonly trace: TracedCall;
  /** Length of the vectors, if it asked for vectors. */
  readonly dimensions?: number | undefined;
}

/**
 * One span for each request to the model, by the OpenTelemetry conventions for generative AI, the
 * same on every backend. A call that sent none, because the money was spent or it was interrupted,
 * has one span too. Spans have no text of prompts and answers: `telemetry.content` is about agents.
 */
export function callSpans(
  call: FinishedCall,
  { traceId, spanId: parentSpanId }: SpanParent,
): OtlpSpan[] {
  const { trace, model, role } = call;
  const operation = role === 'embedding' ? 'embeddings' : 'chat';
  const requests = trace.requests.length === 0 ? [unsentRequest(trace)] : trace.requests;
  return requests.map((request, index): OtlpSpan => {
    const failure = failureOf(call, request, index === requests.length - 1);
    return {
      traceId,
      spanId: newSpanId(),
      parentSpanId,
      name: `${operation} ${model}`,
      kind: 3,
      ...spanTimes(request.startedAt, request.endedAt),
      attributes: otlpAttributes({
        'gen_ai.operation.name': operation,
        ...describeCall(call),
        ...describeUsage(request),
        'ktx.attempts': trace.requests.length === 0 ? 0 : attemptOf(requests, index),
        'ktx.wait_seconds': index === 0 ? trace.waitedMs / 1000 : undefined,
        'error.type': failure,
      }),
      status: failure === undefined ? { code: 0 } : { code: 2, message: failure },
    };
  });
}

function unsentRequest({ startedAt, endedAt }: FinishedCall['trace']): TracedRequest {
  const unused = { model: undefined, tokens: undefined, costUsd: undefined };
  return { startedAt, endedAt, isAnswered: false, ...unused };
}

/**
 * The kind of the call's failure for its last request; `retried` for a request that was sent again.
 */
function failureOf(
  { outcome }: FinishedCall,
  { isAnswered }: TracedRequest,
  isLast: boolean,
): string | undefined {
  if (isLast) return outcome === 'ok' ? undefined : outcome;
  return isAnswered ? undefined : 'retried';
}

/** Which attempt at one step this request was, from 1. */
function attemptOf(requests: readonly TracedRequest[], index: number): number {
  const lastAnswered = requests.slice(0, index).findLastIndex(({ isAnswered }) => isAnswered);
  return index - lastAnswered;
}

function describeCall({
  run,
  role,
  stage,
  backend,
  model,
  dimensions,
}: FinishedCall): AttributeValues {
  return {
    'gen_ai.provider.name':
      backend === 'none' ? undefined : backendProfiles[backend].telemetryProvider,
    'gen_ai.request.model': model,
    'gen_ai.embeddings.dimension.count': dimensions,
    'ktx.backend': backend,
    'ktx.role': role,
    'ktx.stage': stage,
    'ktx.run': run,
  };
}

function describeUsage({ model, tokens, costUsd }: TracedRequest): AttributeValues {
  if (tokens === undefined) return {};
  return {
    'gen_ai.response.model': model,
    ...tokenAttributes(tokens),
    'ktx.cost.usd': costUsd ?? undefined,
  };
}

/** By the conventions, the input includes what was read from a cache or written to it. */
export function tokenAttributes({
  input,
  output,
  cacheRead,
  cacheWrite,
}: TokenUsage): AttributeValues {
  return {
    'gen_ai.usage.input_tokens': input + cacheRead + cacheWrite,
    'gen_ai.usage.output_tokens': output,
    'gen_ai.usage.cache_read.input_tokens': cacheRead,
    'gen_ai.usage.cache_creation.input_tokens': cacheWrite,
  };
}
