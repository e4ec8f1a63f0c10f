import type { Project } from '../../project/open/open.ts';
import { comparePairs, type PairedComparison } from '../report/compare-pairs.ts';
import { summarizeCases, type RunSummary } from '../report/summary.ts';
import { runEvals, type EvalOptions } from '../run/run-evals.ts';
import type { CaseResult, EvalRun } from '../run/run-schema.ts';
import { conditionTexts, openCondition, type ConditionName } from './conditions.ts';
import { countRefusals, type RefusalCounts } from './count-refusals.ts';

type SharedOptions = Pick<
  EvalOptions,
  | 'sets'
  | 'id'
  | 'agent'
  | 'repeat'
  | 'concurrency'
  | 'mostMs'
  | 'done'
  | 'onAttempt'
  | 'signal'
  | 'warn'
  | 'onStart'
>;

export interface BenchOptions extends SharedOptions {
  readonly conditions: readonly ConditionName[];
  readonly onCase: (
    result: CaseResult,
    progress: { readonly done: number; readonly of: number; readonly condition: ConditionName },
  ) => void;
}

export interface ConditionResult {
  readonly name: ConditionName;
  readonly what: string;
  readonly summary: RunSummary;
  readonly refusals: RefusalCounts;
  readonly total: {
    readonly tokens: number;
    /** Undefined if the price of a model is unknown. */
    readonly cost_usd: number | undefined;
    readonly seconds: number;
  };
  readonly cases: readonly CaseResult[];
}

interface BenchDifference {
  readonly before: ConditionName;
  readonly after: ConditionName;
  /** Undefined if no case was decided in both. */
  readonly pairs: PairedComparison | undefined;
}

export interface BenchResult {
  readonly id: string;
  readonly interrupted: boolean;
  readonly context: EvalRun['context'] | undefined;
  readonly conditions: readonly ConditionResult[];
  /** Of each condition and the one before it. */
  readonly differences: readonly BenchDifference[];
}

/** Asks every case under each condition, one condition after the other. */
export async function runBench(project: Project, options: BenchOptions): Promise<BenchResult> {
  const { conditions, sets, id, signal, mostMs, onStart, onCase, done, onAttempt } = options;
  const begun = performance.now();
  const results: ConditionResult[] = [];
  let context: EvalRun['context'] | undefined;
  for (const name of conditions) {
    const condition = await openCondition(project, name);
    const run = await runEvals(condition.project, {
      ...options,
      condition: condition.prepare,
      withoutContext: false,
      allowSideEffects: false,
      mostMs: mostMs === undefined ? undefined : mostMs - (performance.now() - begun),
      done: (place) => done({ ...place, condition: name }),
      onAttempt: (attempt) => onAttempt({ ...attempt, condition: name }),
      onStart(now) {
        if (context === undefined) onStart(now);
        context ??= now;
      },
      onCase: (result, progress) => onCase(result, { ...progress, condition: name }),
    });
    results.push(conditionResult(name, run.cases, sets));
  }
  return {
    id,
    interrupted: signal.aborted,
    context,
    conditions: results,
    differences: differencesOf(results),
  };
}

function conditionResult(
  name: ConditionName,
  cases: readonly CaseResult[],
  sets: EvalOptions['sets'],
): ConditionResult {
  const turns = cases.flatMap(({ attempts }) => attempts.flatMap((attempt) => attempt.turns));
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  const isPriced = turns.every(({ cost_usd: cost }) => cost !== null);
  return {
    name,
    what: conditionTexts[name],
    summary: summarizeCases(cases),
    refusals: countRefusals(cases, sets),
    total: {
      tokens: sum(turns.map(({ tokens }) => tokens)),
      cost_usd: isPriced ? sum(turns.map(({ cost_usd: cost }) => cost ?? 0)) : undefined,
      seconds: sum(turns.map(({ ms }) => ms)) / 1000,
    },
    cases,
  };
}

function differencesOf(results: readonly ConditionResult[]): readonly BenchDifference[] {
  return results.slice(1).flatMap((after, index) => {
    const before = results[index];
    if (before === undefined) return [];
    const pairs = comparePairs(before.cases, after.cases);
    return [{ before: before.name, after: after.name, pairs }];
  });
}
