import type { ReadSecret } from '../../store/secrets.ts';
import { callSpans, type FinishedCall } from './call-spans.ts';
import {
  newSpanId,
  newTraceId,
  otlpAttributes,
  spanTimes,
  type AttributeValues,
  type OtlpSpan,
} from './otlp.ts';
import { openSpanExporter } from './span-exporter.ts';
import type { TelemetryConfig } from './telemetry-config.ts';

/** The spans of one run: the run, below it its stages, and below those their model calls. */
export interface RunTrace extends AsyncDisposable {
  /** Takes each call that has ended. */
  readonly onCall: (call: FinishedCall) => void;
}

interface RunTraceOptions {
  readonly config: TelemetryConfig;
  readonly secrets: ReadSecret;
  readonly run: string;
  /** `ingest` or `scan`. */
  readonly command: string;
}

interface StageSpan {
  readonly spanId: string;
  startedAt: number;
  endedAt: number;
  calls: number;
  failed: number;
}

interface InternalSpan extends Pick<StageSpan, 'spanId' | 'startedAt' | 'endedAt'> {
  readonly name: string;
  readonly about: AttributeValues;
}

/** So many spans are sent together, so that a long run keeps few of them. */
const spansToSend = 100;

/**
 * Opens the trace of a run. It ends when it is disposed. Undefined without an exporter, or outside
 * the sample.
 */
export function openRunTrace(options: RunTraceOptions): RunTrace | undefined {
  const { config, secrets, run, command } = options;
  const exporter = openSpanExporter({ config, secrets, subject: run });
  if (exporter === undefined) return undefined;
  const root = { traceId: newTraceId(), spanId: newSpanId() };
  const startedAt = Date.now();
  const stages = new Map<string, StageSpan>();
  let waiting: OtlpSpan[] = [];
  const flush = (): void => {
    if (waiting.length > 0) exporter.send(waiting);
    waiting = [];
  };
  const internal = ({ name, spanId, startedAt: from, endedAt, about }: InternalSpan): OtlpSpan => ({
    traceId: root.traceId,
    spanId,
    ...(spanId === root.spanId ? {} : { parentSpanId: root.spanId }),
    name,
    kind: 1,
    ...spanTimes(from, endedAt),
    attributes: otlpAttributes({ 'ktx.run': run, ...about }),
    status: { code: 0 },
  });
  return {
    onCall(call) {
      const { stage: name = 'other', trace, outcome } = call;
      const stage = stages.get(name) ?? { spanId: newSpanId(), ...trace, calls: 0, failed: 0 };
      stages.set(name, stage);
      stage.startedAt = Math.min(stage.startedAt, trace.startedAt);
      stage.endedAt = Math.max(stage.endedAt, trace.endedAt);
      stage.calls += 1;
      stage.failed += Number(outcome !== 'ok');
      waiting.push(...callSpans(call, { traceId: root.traceId, spanId: stage.spanId }));
      if (waiting.length >= spansToSend) flush();
    },
    async [Symbol.asyncDispose]() {
      for (const [name, stage] of stages) {
        const counts = { 'ktx.calls': stage.calls, 'ktx.calls.failed': stage.failed };
        const about = { 'ktx.stage': name, ...counts };
        waiting.push(internal({ ...stage, name: `stage ${name}`, about }));
      }
      const whole = { spanId: root.spanId, startedAt, endedAt: Date.now() };
      const about = { 'ktx.command': command };
      waiting.push(internal({ ...whole, name: `ktx ${command}`, about }));
      flush();
      await exporter.close();
    },
  };
}
