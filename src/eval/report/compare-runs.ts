import { UserError } from '../../lib/error.ts';
import type { EvalOutcome } from '../run/outcome.ts';
import type { CaseResult, EvalRun, GradedTurn } from '../run/run-schema.ts';
import { lineDiff, type DiffLine } from './line-diff.ts';
import { comparePairs, type PairedComparison } from './compare-pairs.ts';
import { summarizeCases, type RunSummary } from './summary.ts';

export interface CaseChange {
  readonly id: string;
  /** `broken`: passed before and does not now. `sql`: the same outcome with other SQL. */
  readonly kind: 'broken' | 'fixed' | 'other' | 'sql' | 'added' | 'removed';
  readonly before: EvalOutcome | undefined;
  readonly after: EvalOutcome | undefined;
  /** The diff of the SQL behind the answers; empty if the SQL is the same. */
  readonly sql: readonly DiffLine[];
}

export interface RunComparison {
  /** Ids of the two runs. */
  readonly before: string;
  readonly after: string;
  /** The parts of the context that differ: `semantic_layer`, `wiki`, `questions`, `agents`. */
  readonly differs: readonly string[];
  readonly summaries: readonly [before: RunSummary, after: RunSummary];
  /** The cases that both runs decided, pair by pair; undefined if there are none. */
  readonly paired: PairedComparison | undefined;
  /** Only the cases that changed, in the order of the cases. */
  readonly changes: readonly CaseChange[];
}

const contextParts = ['semantic_layer', 'wiki', 'questions', 'agents'] as const;

export function compareRuns(before: EvalRun, after: EvalRun): RunComparison {
  const beforeById = new Map(before.cases.map((result) => [result.id, result]));
  const afterById = new Map(after.cases.map((result) => [result.id, result]));
  const ids = new Set([...afterById.keys(), ...beforeById.keys()]);
  return {
    before: before.id,
    after: after.id,
    differs: contextParts.filter(
      (part) => JSON.stringify(before.context[part]) !== JSON.stringify(after.context[part]),
    ),
    summaries: [summarizeCases(before.cases), summarizeCases(after.cases)],
    paired: comparePairs(before.cases, after.cases),
    changes: [...ids].flatMap((id) => findChange(id, beforeById.get(id), afterById.get(id)) ?? []),
  };
}

/** A sentence for all reports. */
export function contextChangeText({ differs }: RunComparison): string {
  return differs.length === 0
    ? 'Both runs had the same context.'
    : `Different context: ${differs.join(', ')}.`;
}

/**
 * Throws `baseline_unfit` if the runs share no case, because a regression gate that compares
 * nothing would always pass.
 */
export function requireSharedCases(before: EvalRun, ids: readonly string[]): void {
  const known = new Set(before.cases.map(({ id }) => id));
  if (ids.some((id) => known.has(id))) return;
  const examples = [...known].slice(0, 3).join(', ') || 'no cases';
  throw new UserError('baseline_unfit', `The run ${before.id} shares no case with this one.`, {
    hint: `it has ${examples}; ktx eval run --save writes a new baseline`,
    exitCode: 2,
  });
}

/** Cases that passed before and do not pass now. */
export function brokenCases({ changes }: RunComparison): readonly CaseChange[] {
  return changes.filter(({ kind }) => kind === 'broken');
}

/** Undefined if the case did not change. */
function findChange(
  id: string,
  before: CaseResult | undefined,
  after: CaseResult | undefined,
): CaseChange | undefined {
  const sqlBefore = before && caseSql(before);
  const sqlAfter = after && caseSql(after);
  const sql = sqlBefore === sqlAfter ? [] : lineDiff(sqlBefore ?? '', sqlAfter ?? '');
  const kind =
    outcomeChange(before?.outcome, after?.outcome) ?? (sql.length > 0 ? 'sql' : undefined);
  return kind && { id, kind, before: before?.outcome, after: after?.outcome, sql };
}

function outcomeChange(
  before: EvalOutcome | undefined,
  after: EvalOutcome | undefined,
): CaseChange['kind'] | undefined {
  if (before === after) return undefined;
  if (before === undefined) return 'added';
  if (after === undefined) return 'removed';
  if (before === 'pass') return after === 'skipped' || after === 'weak' ? 'other' : 'broken';
  return after === 'pass' ? 'fixed' : 'other';
}

/** The SQL of the first attempt. Others may differ by chance, which would hide what changed. */
function caseSql({ attempts: [first] }: CaseResult): string {
  return (first?.turns ?? []).map(turnSql).join('\n').trim();
}

function turnSql({ queries }: GradedTurn): string {
  return queries.flatMap(({ sql }) => sql ?? []).join(';\n');
}
