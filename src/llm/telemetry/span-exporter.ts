import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { readVersion } from '../../lib/version.ts';
import { isSecretReference, type ReadSecret } from '../../store/secrets.ts';
import type { OtlpSpan } from './otlp.ts';
import type { TelemetryConfig } from './telemetry-config.ts';

/**
 * Sends spans and makes nobody wait. If the collector is down, the spans are lost and nothing else
 * happens.
 */
export interface SpanExporter {
  send(spans: readonly OtlpSpan[]): void;
  /** Waits at most a second for spans that are being sent. */
  close(): Promise<void>;
}

interface ExporterOptions {
  readonly config: TelemetryConfig;
  readonly secrets: ReadSecret;
  /**
   * Id of the conversation or the run. Each is exported as a whole or not at all, also if it is
   * resumed later.
   */
  readonly subject: string;
}

const sendTimeoutMs = 5000;
const closeTimeoutMs = 1000;

/** Undefined without an exporter in `ktx.yaml`, or if the subject is outside the sample. */
export function openSpanExporter({
  config,
  secrets,
  subject,
}: ExporterOptions): SpanExporter | undefined {
  if (config.exporter === 'none' || !isSampled(subject, config.sample_rate)) return undefined;
  const post = spanSender(config, secrets);
  const pending = new Set<Promise<void>>();
  const closing = new AbortController();
  return {
    send(spans) {
      const sent = post(spans, closing.signal)
        .catch(() => undefined)
        .finally(() => pending.delete(sent));
      pending.add(sent);
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

function isSampled(subject: string, rate: number): boolean {
  const hash = createHash('sha256').update(subject).digest().readUInt32BE(0);
  return hash / 2 ** 32 < rate;
}
