import type { DatabaseSync } from 'node:sqlite';
import type { CallMetrics, KtxModelRole, TokenUsage } from '../port/runtime.ts';

/** One call that has ended. */
export interface CallRecord {
  readonly run: string;
  readonly role: KtxModelRole;
  readonly backend: string;
  /** As configured; the models that answered are in `metrics.usage`. */
  readonly model: string;
  /** `ok`, or the kind of the failure. */
  readonly outcome: string;
  readonly metrics: CallMetrics;
}

/** Sums of one model in one role. */
export interface UsageLine extends TokenUsage {
  readonly backend: string;
  readonly model: string;
  readonly role: string;
  readonly calls: number;
  readonly failed: number;
  /** US dollars of the calls whose cost is known; null where none is. */
  readonly costUsd: number | null;
  /** Why some of it is unknown. */
  readonly costReason?: string | undefined;
}

const table = `CREATE TABLE IF NOT EXISTS calls (
  at TEXT NOT NULL, run TEXT NOT NULL, role TEXT NOT NULL, backend TEXT NOT NULL, model TEXT NOT NULL, outcome TEXT NOT NULL,
  ms INTEGER NOT NULL, api_calls INTEGER NOT NULL, input INTEGER NOT NULL, output INTEGER NOT NULL,
  cache_read INTEGER NOT NULL, cache_write INTEGER NOT NULL, cost_usd REAL, cost_reason TEXT) STRICT`;

/** Outcome of the further lines of a call that went over several models. */
const further = 'also';

/** Keeps calls in the journal. A call over several models is a line for each; its cost, not divisible, is on the first. */
export function usageRecorder(db: DatabaseSync): (record: CallRecord) => void {
  db.exec(table);
  const insert = db.prepare('INSERT INTO calls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)');
  return ({ run, role, backend, model, outcome, metrics }) => {
    const { durationMs, apiCalls, usage, costUsd, costReason } = metrics;
    const entries = Object.entries(usage);
    const lines =
      entries.length === 0
        ? [[model, { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }] as const]
        : entries;
    for (const [index, [name, used]] of lines.entries()) {
      const once = index === 0;
      const tokens = [used.input, used.output, used.cacheRead, used.cacheWrite];
      const cost = [once ? costUsd : null, once ? (costReason ?? null) : null];
      const measured = [Math.round(once ? durationMs : 0), once ? apiCalls : 0];
      insert.run(
        new Date().toISOString(),
        run,
        role,
        backend,
        name,
        once ? outcome : further,
        ...measured,
        ...tokens,
        ...cost,
      );
    }
  };
}

/** What was used since `since` (ISO time), or by one run: a line for each backend, model and role, dearest first. */
export function usageReport(
  db: DatabaseSync,
  only: { readonly run?: string; readonly since?: string } = {},
): UsageLine[] {
  db.exec(table);
  const rows = db
    .prepare(
      `SELECT backend, model, role, sum(outcome <> '${further}') AS calls, sum(outcome NOT IN ('ok', '${further}')) AS failed, sum(input) AS input, sum(output) AS output,
         sum(cache_read) AS cache_read, sum(cache_write) AS cache_write, max(cost_reason) AS cost_reason,
         -- A call that failed and cost nothing tells nothing of what the others cost.
         CASE WHEN max(cost_reason) IS NULL OR sum(cost_usd) > 0 THEN sum(cost_usd) END AS cost_usd
       FROM calls WHERE (?1 IS NULL OR run = ?1) AND (?2 IS NULL OR at >= ?2)
       GROUP BY backend, model, role ORDER BY sum(cost_usd) DESC, sum(input) + sum(output) DESC`,
    )
    .all(only.run ?? null, only.since ?? null);
  return rows.map((row) => ({
    backend: String(row['backend']),
    model: String(row['model']),
    role: String(row['role']),
    calls: Number(row['calls']),
    failed: Number(row['failed']),
    input: Number(row['input']),
    output: Number(row['output']),
    cacheRead: Number(row['cache_read']),
    cacheWrite: Number(row['cache_write']),
    costUsd: typeof row['cost_usd'] === 'number' ? row['cost_usd'] : null,
    costReason: typeof row['cost_reason'] === 'string' ? row['cost_reason'] : undefined,
  }));
}
