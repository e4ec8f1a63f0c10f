import { openRedactor } from '../../lib/patterns/bounded-pattern.ts';
import { redactCredentials } from '../../lib/patterns/credentials.ts';
import type { FinishedAttempt } from './attempt-log.ts';
import type { CaseResult, EvalRun } from './run-schema.ts';

/**
 * Keys whose text people, models or servers wrote. All others (ids, outcomes, hashes) are never
 * changed.
 */
const freeTextKeys: ReadonlySet<string> = new Set([
  'question',
  'answer',
  'found',
  'sql',
  'request',
  'golden_sql',
  'reason',
  'nearest',
]);

/**
 * Replaces what looks like a credential, for all that leaves the process. `patterns`:
 * `telemetry.redaction_patterns`.
 */
export function redactRun<T extends EvalRun | CaseResult | FinishedAttempt>(
  run: T,
  patterns: readonly string[],
): T {
  const redactOwn = openRedactor(patterns);
  const redact = (text: string): string => redactOwn(redactCredentials(text));
  const json = JSON.stringify(run, (key, value: unknown) =>
    typeof value === 'string' && freeTextKeys.has(key) ? redact(value) : value,
  );
  return JSON.parse(json) as T;
}

/** Removes the example rows of findings: rows stay in the warehouse. */
export function withoutNearestRows<T extends EvalRun | FinishedAttempt>(run: T): T {
  const json = JSON.stringify(run, (key, value: unknown) =>
    key === 'nearest' ? undefined : value,
  );
  return JSON.parse(json) as T;
}
