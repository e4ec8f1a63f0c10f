import type { KtxEmbeddingPort } from '../port/embedding.ts';
import type { KtxLlmRuntimePort } from '../port/runtime.ts';
import type { FinishedCall } from './call-spans.ts';
import type { RunTrace } from './run-trace.ts';

interface HearsCalls {
  readonly onCall?: ((call: FinishedCall) => void) | undefined;
}

/** The runtime with every call in the trace; as it is without a trace. */
export function traceRuntime(
  runtime: KtxLlmRuntimePort,
  trace: RunTrace | undefined,
): KtxLlmRuntimePort {
  if (trace === undefined) return runtime;
  return {
    generateText: (input) => runtime.generateText(withTrace(input, trace)),
    generateObject: (input) => runtime.generateObject(withTrace(input, trace)),
    runAgentLoop: (params) => runtime.runAgentLoop(withTrace(params, trace)),
  };
}

/** The same for embeddings. */
export function traceEmbeddings(
  port: KtxEmbeddingPort,
  trace: RunTrace | undefined,
): KtxEmbeddingPort {
  if (trace === undefined) return port;
  return {
    provider: port.provider,
    model: port.model,
    fingerprint: port.fingerprint,
    get dimensions() {
      return port.dimensions;
    },
    embed: (input) => port.embed(withTrace(input, trace)),
  };
}

function withTrace<Input extends HearsCalls>(input: Input, trace: RunTrace): Input {
  return {
    ...input,
    onCall(call) {
      trace.onCall(call);
      input.onCall?.(call);
    },
  };
}
