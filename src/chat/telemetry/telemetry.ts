import { openRedactor } from '../../lib/patterns/bounded-pattern.ts';
import type { AgentEvent, SendOptions } from '../../llm/port/session.ts';
import { openSpanExporter } from '../../llm/telemetry/span-exporter.ts';
import type { TelemetryConfig } from '../../llm/telemetry/telemetry-config.ts';
import type { ReadSecret } from '../../store/secrets.ts';
import { openTurnSpans, type SpanOptions } from './spans.ts';

export interface Telemetry {
  /**
   * Runs a turn, passes its events on unchanged, and sends their spans. The events never wait for
   * that.
   */
  watch(
    turn: Pick<SpanOptions, 'message' | 'model'>,
    send: (options: Pick<SendOptions, 'onCall'>) => AsyncIterable<AgentEvent>,
  ): AsyncIterable<AgentEvent>;
  /** Waits at most a second for spans that are being sent. */
  close(): Promise<void>;
}

interface TelemetryOptions extends Omit<SpanOptions, 'message' | 'content' | 'model'> {
  readonly config: TelemetryConfig;
  readonly secrets: ReadSecret;
}

/** Sends the spans of one conversation. Does nothing without an exporter or outside the sample. */
export function openTelemetry({ config, secrets, ...about }: TelemetryOptions): Telemetry {
  const exporter = openSpanExporter({ config, secrets, subject: about.conversation });
  if (exporter === undefined)
    return { watch: (_turn, send) => send({}), close: () => Promise.resolve() };
  const content = config.content ? openRedactor(config.redaction_patterns) : undefined;
  return {
    async *watch(turn, send) {
      const turnSpans = openTurnSpans({ ...about, ...turn, content });
      for await (const event of send({ onCall: turnSpans.takeCall })) {
        const spans = turnSpans.take(event);
        if (spans !== undefined) exporter.send(spans);
        yield event;
      }
    },
    close: () => exporter.close(),
  };
}
