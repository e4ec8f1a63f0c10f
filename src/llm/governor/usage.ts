import type { DatabaseSync } from 'node:sqlite';
import type { CallMetrics, KtxModelRole, TokenUsage } from '../port/runtime.ts';

/** One finished call, as the journal keeps it. */
export interface CallRecord {
  readonly run: string;
  readonly role: KtxModelRole | 'embedding';
  readonly backend: string;
  /** The configured model. The models that answered are in `metrics.usage`. */
  readonly model: string;
  /** `ok`, or the kind of failure. */
  readonly outcome: string;
  readonly metrics: CallMetrics;
}

/** The usage of one model in one role, summed over calls. */
export interface UsageLine extends TokenUsage {
  readonly backend: string;
  readonly model: string;
  readonly role: string;
  /** Requests that reached the model: each turn of a loop is one, and so is each attempt. */
  readonly calls: number;
  /** Of the orders that led to them, those that failed. */
  readonly failed: number;
  /** US dollars of the calls whose cost is known; null if no cost is known. */
  readonly costUsd: number | null;
  /** Why some cost is unknown. */
  readonly costReason?: string | undefined;
}

const createTable = `CREATE TABLE IF NOT EXISTS calls (
  at TEXT NOT NULL, run TEXT NOT NULL, role TEXT NOT NULL, backend TEXT NOT NULL,
  model TEXT NOT NULL, outcome TEXT NOT NULL,
  ms INTEGER NOT NULL, api_calls INTEGER NOT NULL, input INTEGER NOT NULL, output INTEGER NOT NULL,
  cache_read INTEGER NOT NULL, cache_write INTEGER NOT NULL,
  cost_usd REAL, cost_reason TEXT) STRICT`;

/** The outcome of the second and further rows of a call that used several models. */
const furtherModel = 'also';

/**
 * Returns a function that writes calls to the journal: one row for each model of a call. The first
 * row has the duration and the cost of the whole call, because they cannot be divided.
 */
export function usageRecorder(db: DatabaseSync): (record: CallRecord) => void {
  db.exec(createTable);
  const insert = db.prepare('INSERT INTO calls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)');
  return ({ run, role, backend, model, outcome, metrics }) => {
    const { durationMs, apiCalls, usage, costUsd, costReason } = metrics;
    const byModel = Object.entries(usage);
    const noTokens = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
    const rows = byModel.length === 0 ? [[model, noTokens] as const] : byModel;
    for (const [index, [name, tokens]] of rows.entries()) {
      const isFirst = index === 0;
      insert.run(
        new Date().toISOString(),
        run,
        role,
        backend,
        name,
        isFirst ? outcome : furtherModel,
        isFirst ? Math.round(durationMs) : 0,
        isFirst ? apiCalls : 0,
        tokens.input,
        tokens.output,
        tokens.cacheRead,
        tokens.cacheWrite,
        isFirst ? costUsd : null,
        isFirst ? (costReason ?? null) : null,
      );
    }
  };
}

// A call that failed and cost nothing says nothing about the cost of the others.
const selectUsage = `SELECT backend, model, role,
    sum(api_calls) AS calls,
    sum(outcome NOT IN ('ok', '${furtherModel}')) AS failed,
    sum(input) AS input, sum(output) AS output,
    sum(cache_read) AS cache_read, sum(cache_write) AS cache_write,
    max(cost_reason) AS cost_reason,
    CASE WHEN max(cost_reason) IS NULL OR sum(cost_usd) > 0 THEN sum(cost_usd) END AS cost_usd
  FROM calls WHERE (?1 IS NULL OR run = ?1) AND (?2 IS NULL OR at >= ?2)
  GROUP BY backend, model, role
  ORDER BY sum(cost_usd) DESC, sum(input) + sum(output) DESC`;

interface UsageFilter {
  readonly run?: string;
  /** ISO time. */
  readonly since?: string;
}

/** One line for each backend, model and role, the most expensive first. */
export function usageReport(db: DatabaseSync, filter: UsageFilter = {}): UsageLine[] {
  db.exec(createTable);
  const rows = db.prepare(selectUsage).all(filter.run ?? null, filter.since ?? null);
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

/** What the calls of one run cost. */
export interface RunCalls {
  readonly run: string;
  /** ISO times of the first and the last call. */
  readonly started: string;
  readonly ended: string;
  readonly roles: readonly string[];
  readonly calls: number;
  /** As in `UsageLine`. */
  readonly costUsd: number | null;
}

const selectRuns = `SELECT run, min(at) AS started, max(at) AS ended,
    group_concat(DISTINCT role) AS roles, sum(api_calls) AS calls,
    CASE WHEN max(cost_reason) IS NULL OR sum(cost_usd) > 0 THEN sum(cost_usd) END AS cost_usd
  FROM calls GROUP BY run ORDER BY ended DESC LIMIT ?`;

/** The runs that called a model last, the newest first. */
export function usageByRun(db: DatabaseSync, most: number): RunCalls[] {
  db.exec(createTable);
  return db
    .prepare(selectRuns)
    .all(most)
    .map((row) => ({
      run: String(row['run']),
      started: String(row['started']),
      ended: String(row['ended']),
      roles: String(row['roles']).split(','),
      calls: Number(row['calls']),
      costUsd: typeof row['cost_usd'] === 'number' ? row['cost_usd'] : null,
    }));
}
