import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { openRedactor } from '../../lib/patterns/bounded-pattern.ts';
import { readVersion } from '../../lib/version.ts';
import type { AgentEvent } from '../../llm/port/session.ts';
import type { TelemetryConfig } from '../../llm/telemetry-config.ts';
import { isSecretReference, type ReadSecret } from '../../store/secrets.ts';
import { openTurnSpans, type OtlpSpan, type SpanOptions } from './spans.ts';

export interface Telemetry {
  /** Passes the events on unchanged and sends their spans. The events never wait for that. */
  watch(
    events: AsyncIterable<AgentEvent>,
    turn: Pick<SpanOptions, 'message' | 'model'>,
  ): AsyncIterable<AgentEvent>;
  /** Waits at most a second for spans that are being sent. */
  close(): Promise<void>;
}

interface TelemetryOptions extends Omit<SpanOptions, 'message' | 'content' | 'model'> {
  readonly config: TelemetryConfig;
  readonly secrets: ReadSecret;
}

const sendTimeoutMs = 5000;
const closeTimeoutMs = 1000;

/** Sends the spans of one conversation. Does nothing without an exporter or outside the sample. */
export function openTelemetry({ config, secrets, ...about }: TelemetryOptions): Telemetry {
  if (config.exporter === 'none' || !isSampled(about.conversation, config.sample_rate)) {
    return { watch: (events) => events, close: () => Promise.resolve() };
  }
  const sendSpans = spanSender(config, secrets);
  const content = config.content ? openRedactor(config.redaction_patterns) : undefined;
  const pending = new Set<Promise<void>>();
  const closing = new AbortController();
  return {
    async *watch(events, turn) {
      const turnSpans = openTurnSpans({ ...about, ...turn, content });
      for await (const event of events) {
        const spans = turnSpans.take(event);
        if (spans !== undefined) {
          // If the collector is down, the spans are lost and nothing else happens.
          const sent = sendSpans(spans, closing.signal)
            .catch(() => undefined)
            .finally(() => pending.delete(sent));
          pending.add(sent);
        }
        yield event;
      }
    },
    async close() {
      const timeout = new AbortController();
      await Promise.race([
        Promise.all(pending),
        sleep(closeTimeoutMs, undefined, { signal: timeout.signal }).catch(() => undefined),
      ]);
      timeout.abort();
      closing.abort();
    },
  };
}

type SpanSender = (spans: readonly OtlpSpan[], stop: AbortSignal) => Promise<void>;

/** OTLP over HTTP as JSON. */
function spanSender({ endpoint, headers }: TelemetryConfig, secrets: ReadSecret): SpanSender {
  const resolve = (text: string): string => (isSecretReference(text) ? secrets(text) : text);
  const url = `${resolve(endpoint).replace(/\/$/, '')}/v1/traces`;
  const resolvedHeaders = Object.fromEntries(
    Object.entries(headers).map(([name, text]) => [name, resolve(text)]),
  );
  const attributes = [
    { key: 'service.name', value: { stringValue: 'ktx' } },
    { key: 'service.version', value: { stringValue: readVersion() } },
  ];
  return async (spans, stop) => {
    const scopeSpans = [{ scope: { name: 'ktx' }, spans }];
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...resolvedHeaders, 'content-type': 'application/json' },
      body: JSON.stringify({ resourceSpans: [{ resource: { attributes }, scopeSpans }] }),
      signal: AbortSignal.any([stop, AbortSignal.timeout(sendTimeoutMs)]),
    });
    await response.body?.cancel();
  };
}

/** A conversation is exported as a whole or not at all, also if it is resumed later. */
function isSampled(conversation: string, rate: number): boolean {
  const hash = createHash('sha256').update(conversation).digest().readUInt32BE(0);
  return hash / 2 ** 32 < rate;
}
