import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { readVersion } from '../lib/version.ts';
import type { AgentEvent } from '../llm/port/session.ts';
import type { TelemetryConfig } from '../llm/telemetry-config.ts';
import { isSecretReference, resolveSecret } from '../store/secrets.ts';
import { openTurnSpans, type Span, type SpanOptions } from './spans.ts';

export interface Telemetry {
  /** The events as they are; their spans go out beside, and nothing waits for that. */
  watch(
    events: AsyncIterable<AgentEvent>,
    turn: Pick<SpanOptions, 'message' | 'model'>,
  ): AsyncIterable<AgentEvent>;
  /** Waits a second at most for what is under way. */
  close(): Promise<void>;
}

interface TelemetryOptions extends Omit<SpanOptions, 'message' | 'content' | 'model'> {
  readonly config: TelemetryConfig;
  readonly projectDir: string;
}

const sendMs = 5000;
const closeMs = 1000;

/** Spans of one conversation to a collector; nothing at all where none is configured, or this one is not in the sample. */
export function openTelemetry({ config, projectDir, ...about }: TelemetryOptions): Telemetry {
  if (config.exporter === 'none' || !isSampled(about.conversation, config.sample_rate)) {
    return { watch: (events) => events, close: () => Promise.resolve() };
  }
  const send = exporter(config, projectDir);
  const underWay = new Set<Promise<void>>();
  const leaving = new AbortController();
  const content = config.content ? redacting(config.redaction_patterns) : undefined;
  return {
    async *watch(events, turn) {
      const spans = openTurnSpans({ ...about, ...turn, content });
      for await (const event of events) {
        const made = spans.take(event);
        if (made !== undefined) {
          // A collector that is down loses spans and nothing else.
          const sent = send(made, leaving.signal)
            .catch(() => undefined)
            .finally(() => underWay.delete(sent));
          underWay.add(sent);
        }
        yield event;
      }
    },
    async close() {
      const late = new AbortController();
      await Promise.race([
        Promise.all(underWay),
        sleep(closeMs, undefined, { signal: late.signal }).catch(() => undefined),
      ]);
      late.abort();
      leaving.abort();
    },
  };
}

function exporter(
  { endpoint, headers }: TelemetryConfig,
  projectDir: string,
): (spans: readonly Span[], stop: AbortSignal) => Promise<void> {
  const valueOf = (text: string): string =>
    isSecretReference(text) ? resolveSecret(text, projectDir) : text;
  const url = `${valueOf(endpoint).replace(/\/$/, '')}/v1/traces`;
  const given = Object.fromEntries(
    Object.entries(headers).map(([name, text]) => [name, valueOf(text)]),
  );
  const attributes = [
    { key: 'service.name', value: { stringValue: 'ktx' } },
    { key: 'service.version', value: { stringValue: readVersion() } },
  ];
  return async (spans, stop) => {
    const body = JSON.stringify({
      resourceSpans: [
        { resource: { attributes }, scopeSpans: [{ scope: { name: 'ktx' }, spans }] },
      ],
    });
    const signal = AbortSignal.any([stop, AbortSignal.timeout(sendMs)]);
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...given, 'content-type': 'application/json' },
      body,
      signal,
    });
    await response.body?.cancel();
  };
}

/** A conversation is told as a whole, also where it is gone on from. */
function isSampled(conversation: string, rate: number): boolean {
  return createHash('sha256').update(conversation).digest().readUInt32BE(0) / 2 ** 32 < rate;
}

function redacting(patterns: readonly string[]): (text: string) => string {
  const compiled = patterns.map((pattern) => new RegExp(pattern, 'gu'));
  return (text) => compiled.reduce((rest, pattern) => rest.replace(pattern, '[redacted]'), text);
}
