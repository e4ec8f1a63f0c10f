import { randomBytes } from 'node:crypto';
import { backendProfiles, type BackendName } from '../llm/backends.ts';
import type { AgentEvent, TurnResult } from '../llm/port/session.ts';

type Value = string | number | boolean;

/** A span as OTLP has it in JSON. */
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  /** 1 internal, 3 client. */
  readonly kind: 1 | 3;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: object }[];
  /** 2: failed. */
  readonly status: { readonly code: 0 | 2; readonly message?: string };
}

export interface SpanOptions {
  readonly conversation: string;
  readonly agent: string;
  readonly backend: BackendName;
  readonly model: string;
  readonly message: string;
  /** What may be told of content; undefined where nothing may. */
  readonly content: ((text: string) => string) | undefined;
}

/** Makes the spans of one turn from its events, by the conventions for generative AI: the agent's, and one for each tool below it. */
export function openTurnSpans(options: SpanOptions) {
  const { conversation, agent, backend, model, message, content } = options;
  const traceId = hex(16);
  const root = hex(8);
  const started = Date.now();
  const running = new Map<string, { readonly started: number; readonly input: unknown }>();
  const tools: Span[] = [];
  const common = {
    'gen_ai.provider.name':
      backend === 'none' ? undefined : backendProfiles[backend].telemetryProvider,
    'gen_ai.conversation.id': conversation,
  };
  const toolEnded = (event: Extract<AgentEvent, { type: 'tool_end' }>): void => {
    const { id, name, ok, summary, evidenceId } = event;
    const call = running.get(id);
    tools.push({
      traceId,
      spanId: hex(8),
      parentSpanId: root,
      name: `execute_tool ${name}`,
      kind: 1,
      ...times(call?.started ?? Date.now()),
      attributes: attributes({
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': name,
        'gen_ai.tool.call.id': id,
        'gen_ai.tool.type': 'function',
        'ktx.evidence.id': evidenceId,
        'gen_ai.tool.call.arguments': content?.(JSON.stringify(call?.input ?? {})),
        'error.type': ok ? undefined : 'tool_error',
      }),
      status: ok ? { code: 0 } : { code: 2, message: content?.(summary) ?? 'the tool failed' },
    });
  };
  return {
    /** The spans, with the last event. */
    take(event: AgentEvent): readonly Span[] | undefined {
      if (event.type === 'tool_start')
        running.set(event.id, { started: Date.now(), input: event.input });
      if (event.type === 'tool_end') toolEnded(event);
      if (event.type !== 'turn_end') return undefined;
      const { result } = event;
      const told = {
        'gen_ai.input.messages': content?.(message),
        'gen_ai.output.messages': content?.(result.text),
      };
      const about = {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': agent,
        'gen_ai.request.model': model,
      };
      const agentSpan: Span = {
        traceId,
        spanId: root,
        name: `invoke_agent ${agent}`,
        kind: 3,
        ...times(started),
        attributes: attributes({ ...about, ...common, ...usageOf(result), ...told }),
        status: result.error === undefined ? { code: 0 } : { code: 2, message: result.error.code },
      };
      return [agentSpan, ...tools];
    },
  };
}

function usageOf({
  usage,
  costUsd,
  stopReason,
  steps,
  firstTokenMs,
  error,
}: TurnResult): Record<string, Value | undefined> {
  const sum = (read: (tokens: TurnResult['usage'][string]) => number): number =>
    Object.values(usage).reduce((total, tokens) => total + read(tokens), 0);
  return {
    'gen_ai.response.model': Object.keys(usage)[0],
    'gen_ai.usage.input_tokens': sum(
      ({ input, cacheRead, cacheWrite }) => input + cacheRead + cacheWrite,
    ),
    'gen_ai.usage.output_tokens': sum(({ output }) => output),
    'gen_ai.usage.cache_read.input_tokens': sum(({ cacheRead }) => cacheRead),
    'gen_ai.response.time_to_first_chunk':
      firstTokenMs === undefined ? undefined : firstTokenMs / 1000,
    'ktx.cost.usd': costUsd ?? undefined,
    'ktx.stop_reason': stopReason,
    'ktx.steps': steps,
    'error.type': error?.code,
  };
}

function times(started: number): Pick<Span, 'startTimeUnixNano' | 'endTimeUnixNano'> {
  return { startTimeUnixNano: `${started}000000`, endTimeUnixNano: `${Date.now()}000000` };
}

function attributes(values: Readonly<Record<string, Value | undefined>>): Span['attributes'] {
  return Object.entries(values).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: valueOf(value) }],
  );
}

function valueOf(value: Value): object {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

const hex = (bytes: number): string => randomBytes(bytes).toString('hex');
