import { randomBytes } from 'node:crypto';
import { backendProfiles, type BackendName } from '../../llm/backends.ts';
import type { AgentEvent, TurnResult } from '../../llm/port/session.ts';

type AttributeValue = string | number | boolean;
type AttributeValues = Readonly<Record<string, AttributeValue | undefined>>;

/** A span in the JSON form of OTLP. */
export interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  /** 1 internal, 3 client. */
  readonly kind: 1 | 3;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: object }[];
  /** Code 2: failed. */
  readonly status: { readonly code: 0 | 2; readonly message?: string };
}

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
 * Makes the spans of one turn from its events, by the OpenTelemetry conventions for generative AI: a
 * span of the agent, and below it one for each tool call. Own code: the OpenTelemetry exporter would
 * bring an SDK with global state for one POST of JSON.
 */
export function openTurnSpans(options: SpanOptions) {
  const { conversation, agent, backend, model, message, content } = options;
  const traceId = randomHex(16);
  const rootSpanId = randomHex(8);
  const startedAt = Date.now();
  const openCalls = new Map<string, { readonly startedAt: number; readonly input: unknown }>();
  const toolSpans: OtlpSpan[] = [];

  const toolSpan = (event: Extract<AgentEvent, { type: 'tool_end' }>): OtlpSpan => {
    const { id, name, ok, summary, evidenceId } = event;
    const call = openCalls.get(id);
    return {
      traceId,
      spanId: randomHex(8),
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
    /** Takes each event of the turn. Returns all spans with the last event. */
    take(event: AgentEvent): readonly OtlpSpan[] | undefined {
      if (event.type === 'tool_start')
        openCalls.set(event.id, { startedAt: Date.now(), input: event.input });
      if (event.type === 'tool_end') toolSpans.push(toolSpan(event));
      return event.type === 'turn_end' ? [agentSpan(event.result), ...toolSpans] : undefined;
    },
  };
}

function resultAttributes(result: TurnResult): AttributeValues {
  const { usage, costUsd, stopReason, steps, firstTokenMs, error } = result;
  const models = Object.values(usage);
  return {
    'gen_ai.response.model': Object.keys(usage)[0],
    'gen_ai.usage.input_tokens': models.reduce(
      (sum, { input, cacheRead, cacheWrite }) => sum + input + cacheRead + cacheWrite,
      0,
    ),
    'gen_ai.usage.output_tokens': models.reduce((sum, { output }) => sum + output, 0),
    'gen_ai.usage.cache_read.input_tokens': models.reduce(
      (sum, { cacheRead }) => sum + cacheRead,
      0,
    ),
    'gen_ai.response.time_to_first_chunk':
      firstTokenMs === undefined ? undefined : firstTokenMs / 1000,
    'ktx.cost.usd': costUsd ?? undefined,
    'ktx.stop_reason': stopReason,
    'ktx.steps': steps,
    'error.type': error?.code,
  };
}

/** From `startedAt` (milliseconds) to now. */
function spanTimes(startedAt: number): Pick<OtlpSpan, 'startTimeUnixNano' | 'endTimeUnixNano'> {
  return { startTimeUnixNano: `${startedAt}000000`, endTimeUnixNano: `${Date.now()}000000` };
}

function otlpAttributes(values: AttributeValues): OtlpSpan['attributes'] {
  return Object.entries(values).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: otlpValue(value) }],
  );
}

function otlpValue(value: AttributeValue): object {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

function randomHex(bytes: number): string {
  return randomBytes(bytes).toString('hex');
}
