import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { RecordCall } from '../audit/record-calls.ts';

/** Outcomes of calls that a limit refused. */
const limitCodes: ReadonlySet<string> = new Set([
  'rate_limited',
  'too_many_queries',
  'day_used_up',
]);

/** Seconds. From an answer out of files to a query that runs into its time limit. */
const durations = [0.005, 0.02, 0.1, 0.5, 2, 10, 60, 300];

export type Metrics = ReturnType<typeof openMetrics>;

/**
 * What the server counts. Its labels are names of tools, codes and connections: never people,
 * arguments or SQL.
 */
export function openMetrics() {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const { calls, seconds, bytes, running, queries, refusals, requests } = openCounters(registry);
  const begin = (tool: string) => {
    const measure = seconds.startTimer({ tool });
    running.inc();
    return (outcome: string): void => {
      running.dec();
      measure();
      calls.inc({ tool, outcome });
      if (limitCodes.has(outcome)) refusals.inc({ limit: outcome });
    };
  };
  return {
    /** Counts what passes a record of calls. */
    observe:
      (record: RecordCall): RecordCall =>
      (asked) => {
        const call = record(asked);
        const end = begin(asked.tool);
        return {
          started: () =>
            call.started().catch((error: unknown) => {
              end('audit_unwritten');
              throw error;
            }),
          answered(answer) {
            end(answer.outcome);
            bytes.inc({ tool: asked.tool }, answer.bytes);
            const { connection } = answer;
            if (connection !== undefined) queries.inc({ connection });
            return call.answered(answer);
          },
        };
      },
    countRequest(status: number): void {
      requests.inc({ status: String(status) });
      if (status === 429) refusals.inc({ limit: 'requests' });
    },
    /** In the text format of Prometheus. */
    read: async () => ({ type: registry.contentType, text: await registry.metrics() }),
  };
}

function openCounters(registry: Registry) {
  const registers = [registry];
  const labelled = { registers, labelNames: ['tool'] as const };
  const calls = new Counter({
    registers,
    name: 'ktx_calls_total',
    help: 'Calls that were answered, by tool and outcome (ok, or the code of the error).',
    labelNames: ['tool', 'outcome'],
  });
  const seconds = new Histogram({
    ...labelled,
    name: 'ktx_call_duration_seconds',
    help: 'Time from the start of a call to its answer.',
    buckets: durations,
  });
  const bytes = new Counter({
    ...labelled,
    name: 'ktx_answer_bytes_total',
    help: 'Bytes of answers.',
  });
  const running = new Gauge({ registers, name: 'ktx_calls_in_flight', help: 'Calls that run.' });
  const queries = new Counter({
    registers,
    name: 'ktx_queries_total',
    help: 'Statements that a warehouse answered, by connection.',
    labelNames: ['connection'],
  });
  const refusals = new Counter({
    registers,
    name: 'ktx_refusals_total',
    help: 'Calls and requests that a limit refused, by limit.',
    labelNames: ['limit'],
  });
  const requests = new Counter({
    registers,
    name: 'ktx_http_requests_total',
    help: 'HTTP requests to /mcp, by status.',
    labelNames: ['status'],
  });
  return { calls, seconds, bytes, running, queries, refusals, requests };
}
