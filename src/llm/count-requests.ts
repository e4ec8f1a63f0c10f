import type { CallMetrics, DeclaringRuntime } from './port/runtime.ts';

/** The same model. `requests` is how many of its requests have reached the provider so far. */
export function countRequests<Model extends { readonly runtime: DeclaringRuntime }>(
  model: Model,
): { readonly model: Model; readonly requests: () => number } {
  let requests = 0;
  const runtime = watchMetrics(model.runtime, ({ apiCalls }) => (requests += apiCalls));
  return { model: { ...model, runtime }, requests: () => requests };
}

interface Watched {
  readonly onMetrics?: ((metrics: CallMetrics) => void) | undefined;
}

/** The runtime; after each call, also after one that failed, `onMetrics` is told what it used. */
export function watchMetrics(
  runtime: DeclaringRuntime,
  onMetrics: (metrics: CallMetrics) => void,
): DeclaringRuntime {
  const watched = <Input extends Watched>(input: Input): Input => ({
    ...input,
    onMetrics(metrics) {
      onMetrics(metrics);
      input.onMetrics?.(metrics);
    },
  });
  return {
    generateText: (input) => runtime.generateText(watched(input)),
    generateObject: (input) => runtime.generateObject(watched(input)),
    runAgentLoop: (params) => runtime.runAgentLoop(watched(params)),
  };
}
