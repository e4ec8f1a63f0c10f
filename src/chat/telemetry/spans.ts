import { backendProfiles, type BackendName } from '../../llm/backends.ts';
import type { TokenUsage } from '../../llm/port/runtime.ts';
import type { AgentEvent, TurnResult } from '../../llm/port/session.ts';
import { callSpans, tokenAttributes, type FinishedCall } from '../../llm/telemetry/call-spans.ts';
import {
  newSpanId,
  newTraceId,
  otlpAttributes,
  spanTimes,
  type AttributeValues,
  type OtlpSpan,
} from '../../llm/telemetry/otlp.ts';

export interface SpanOptions {
  readonly conversation: string;
  readonly agent: string;
  readonly backend: BackendName;
  readonly model: string;
  readonly message: string;
  /** Redacts questions, answers and arguments; undefined if they must not be exported. */
  readonly content: ((text: string) => string) | undefined;
}

/**
 * Makes the spans of one turn from its events, by the OpenTelemetry conventions for generative AI:
 * a span of the agent, and below it one for each tool call and each request to the model. Own code:
 * the OpenTelemetry exporter would bring an SDK with global state for one POST of JSON.
 */
export function openTurnSpans(options: SpanOptions) {
  const { conversation, agent, backend, model, message, content } = options;
  const traceId = newTraceId();
  const rootSpanId = newSpanId();
  const startedAt = Date.now();
  const openCalls = new Map<string, { readonly startedAt: number; readonly input: unknown }>();
  const toolSpans: OtlpSpan[] = [];
  const modelSpans: OtlpSpan[] = [];

  const toolSpan = (event: Extract<AgentEvent, { type: 'tool_end' }>): OtlpSpan => {
    const { id, name, ok, summary, evidenceId } = event;
    const call = openCalls.get(id);
    return {
      traceId,
      spanId: newSpanId(),
      parentSpanId: rootSpanId,
      name: `execute_tool ${name}`,
      kind: 1,
      ...spanTimes(call?.startedAt ?? Date.now()),
      attributes: otlpAttributes({
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': name,
        'gen_ai.tool.call.id': id,
        'gen_ai.tool.type': 'function',
        'ktx.evidence.id': evidenceId,
        'gen_ai.tool.call.arguments': content?.(JSON.stringify(call?.input ?? {})),
        'error.type': ok ? undefined : 'tool_error',
      }),
      status: ok ? { code: 0 } : { code: 2, message: content?.(summary) ?? 'the tool failed' },
    };
  };

  const agentSpan = (result: TurnResult): OtlpSpan => ({
    traceId,
    spanId: rootSpanId,
    name: `invoke_agent ${agent}`,
    kind: 3,
    ...spanTimes(startedAt),
    attributes: otlpAttributes({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': agent,
      'gen_ai.request.model': model,
      'gen_ai.provider.name':
        backend === 'none' ? undefined : backendProfiles[backend].telemetryProvider,
      'gen_ai.conversation.id': conversation,
      ...resultAttributes(result),
      'gen_ai.input.messages': content?.(message),
      'gen_ai.output.messages': content?.(result.text),
    }),
    status: result.error === undefined ? { code: 0 } : { code: 2, message: result.error.code },
  });

  return {
    /** Takes each model call of the turn when it has ended, which is before the turn has. */
    takeCall: (call: FinishedCall): void =>
      void modelSpans.push(...callSpans(call, { traceId, spanId: rootSpanId })),
    /** Takes each event of the turn. Returns all spans with the last event. */
    take(event: AgentEvent): readonly OtlpSpan[] | undefined {
      if (event.type === 'tool_start')
        openCalls.set(event.id, { startedAt: Date.now(), input: event.input });
      if (event.type === 'tool_end') toolSpans.push(toolSpan(event));
      if (event.type !== 'turn_end') return undefined;
      return [agentSpan(event.result), ...modelSpans, ...toolSpans];
    },
  };
}

function resultAttributes(result: TurnResult): AttributeValues {
  const { usage, costUsd, stopReason, steps, firstTokenMs, error } = result;
  return {
    'gen_ai.response.model': Object.keys(usage)[0],
    ...tokenAttributes(sumOfModels(usage)),
    'gen_ai.response.time_to_first_chunk':
      firstTokenMs === undefined ? undefined : firstTokenMs / 1000,
    'ktx.cost.usd': costUsd ?? undefined,
    'ktx.stop_reason': stopReason,
    'ktx.steps': steps,
    'error.type': error?.code,
  };
}

function sumOfModels(usage: TurnResult['usage']): TokenUsage {
  const models = Object.values(usage);
  const sum = (count: (tokens: TokenUsage) => number): number =>
    models.reduce((total, tokens) => total + count(tokens), 0);
  return {
    input: sum(({ input }) => input),
    output: sum(({ output }) => output),
    cacheRead: sum(({ cacheRead }) => cacheRead),
    cacheWrite: sum(({ cacheWrite }) => cacheWrite),
  };
}
