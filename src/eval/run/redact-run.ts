import { openRedactor } from '../../lib/patterns/bounded-pattern.ts';
import type { FinishedAttempt } from './attempt-log.ts';
import type { CaseResult, EvalRun } from './run-schema.ts';

/** Texts that look like credentials, which a model or a server may have written. */
const credentialPatterns = [
  /\b(?:sk|pk|rk|xox[abprs])-[\w-]{16,}/gi,
  // Only with live, test or prod: a column may be named sk_customer_account_number.
  /\b(?:sk|pk|rk)_(?:live|test|prod)_\w{10,}/gi,
  /\b(?:gh[opusr]|github_pat)_\w{16,}/gi,
  /\b(Bearer|Basic)\s+[\w.~+/-]{12,}=*/gi,
  /(?<=:\/\/[^\s:/@]+:)[^\s@/]+(?=@)/g,
  /\bAKIA[A-Z0-9]{16}\b/g,
  /\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]+/g,
];

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
  const redact = (text: string): string =>
    redactOwn(
      credentialPatterns.reduce((rest, pattern) => rest.replace(pattern, '[redacted]'), text),
    );
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
