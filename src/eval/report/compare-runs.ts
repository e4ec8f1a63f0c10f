import { UserError } from '../../lib/error.ts';
import { lineDiff, type DiffLine } from './line-diff.ts';
import type { EvalOutcome } from '../run/outcome.ts';
import type { CaseResult, EvalRun, GradedTurn } from '../run/run-schema.ts';
import { summarizeCases, type Summary } from './summary.ts';

export interface CaseChange {
  readonly id: string;
  /** `broken`: passed and does not any more. `sql`: the same outcome by another statement. */
  readonly kind: 'broken' | 'fixed' | 'other' | 'sql' | 'added' | 'removed';
  readonly before: EvalOutcome | undefined;
  readonly after: EvalOutcome | undefined;
  /** Of the statements behind the answers; empty where they are the same. */
  readonly sql: readonly DiffLine[];
}

export interface RunComparison {
  readonly before: string;
  readonly after: string;
  /** What of the context differs: `semantic_layer`, `wiki`, `questions`, `agents`. */
  readonly differs: readonly string[];
  readonly summaries: readonly [before: Summary, after: Summary];
  /** In the order of the cases; those that did not change are left out. */
  readonly changes: readonly CaseChange[];
}

export function compareRuns(before: EvalRun, after: EvalRun): RunComparison {
  const [old, now] = [before, after].map(({ cases }) => new Map(cases.map((one) => [one.id, one])));
  const ids = [...new Set([...after.cases, ...before.cases].map(({ id }) => id))];
  const parts = ['semantic_layer', 'wiki', 'questions', 'agents'] as const;
  return {
    before: before.id,
    after: after.id,
    differs: parts.filter(
      (part) => JSON.stringify(before.context[part]) !== JSON.stringify(after.context[part]),
    ),
    summaries: [summarizeCases(before.cases), summarizeCases(after.cases)],
    changes: ids.flatMap((id) => changeOf(id, old?.get(id), now?.get(id)) ?? []),
  };
}

/** A gate that compares nothing would be open for everything: other question sets, or sets that were renamed. */
export function requireSharedCases(before: EvalRun, ids: readonly string[]): void {
  const known = new Set(before.cases.map(({ id }) => id));
  if (ids.some((id) => known.has(id))) return;
  const hint = `it has ${[...known].slice(0, 3).join(', ') || 'none'}; ktx eval run --save writes another`;
  throw new UserError(
    'baseline_unfit',
    `The run ${before.id} has none of the cases that would be compared with it.`,
    {
      hint,
      exitCode: 2,
    },
  );
}

/** What passed and does not any more. */
export function brokenCases({ changes }: RunComparison): readonly CaseChange[] {
  return changes.filter(({ kind }) => kind === 'broken');
}

function changeOf(
  id: string,
  before: CaseResult | undefined,
  after: CaseResult | undefined,
): CaseChange | undefined {
  const [old, now] = [before && statements(before), after && statements(after)];
  const sql = old === now ? [] : lineDiff(old ?? '', now ?? '');
  const kind = kindOf(before?.outcome, after?.outcome) ?? (sql.length > 0 ? 'sql' : undefined);
  return kind && { id, kind, before: before?.outcome, after: after?.outcome, sql };
}

function kindOf(
  before: EvalOutcome | undefined,
  after: EvalOutcome | undefined,
): CaseChange['kind'] | undefined {
  if (before === after) return undefined;
  if (before === undefined) return 'added';
  if (after === undefined) return 'removed';
  if (before === 'pass') return after === 'skipped' ? 'other' : 'broken';
  return after === 'pass' ? 'fixed' : 'other';
}

/** Of the first attempt: one is as good as another, and what chance adds would hide the change. */
function statements({ attempts: [first] }: CaseResult): string {
  return (first?.turns ?? []).map(turnSql).join('\n').trim();
}

export function turnSql({ queries }: GradedTurn): string {
  return queries.flatMap(({ sql }) => sql ?? []).join(';\n');
}
