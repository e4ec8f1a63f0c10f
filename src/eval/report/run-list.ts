import { readPastRuns, readRun } from '../run/run-file.ts';
import { summarizeCases } from './summary.ts';

/**
 * The newest runs, oldest first, each with its figures and the outcome of every case. Without
 * answers: `ktx eval report` has those.
 */
export async function listRuns(projectDir: string, limit: number) {
  const ids = (await readPastRuns(projectDir, limit)).map(({ id }) => id);
  const runs = [];
  for (const id of ids) {
    const { started, ms, interrupted, context, ...run } = await readRun(projectDir, id, projectDir);
    const bare = run.without_context;
    runs.push({
      id,
      started,
      ms,
      interrupted,
      agents: context.agents.map(({ name, model }) => ({ name, model })),
      summary: summarizeCases(run.cases),
      cases: run.cases.map(outcomeOf),
      ...(bare && { without_context: bare.map(outcomeOf) }),
    });
  }
  return runs;
}

function outcomeOf<Case extends { id: string; outcome: string; flaky: boolean }>({
  id,
  outcome,
  flaky,
}: Case): Pick<Case, 'id' | 'outcome' | 'flaky'> {
  return { id, outcome, flaky };
}

/** What an eval run cost, without its answers. */
export interface EvalCost {
  readonly id: string;
  /** ISO time at which it began. */
  readonly at: string;
  readonly right: number;
  readonly cases: number;
  /** US dollars of all answers; null if that of one is unknown. */
  readonly costUsd: number | null;
}

/** The last runs, newest first. */
export async function listEvalCosts(
  projectDir: string,
  most: number,
): Promise<readonly EvalCost[]> {
  const ids = (await readPastRuns(projectDir, most)).map(({ id }) => id).toReversed();
  const costs: EvalCost[] = [];
  for (const id of ids) {
    const {
      started,
      cases,
      without_context: bare = [],
    } = await readRun(projectDir, id, projectDir);
    const turns = [...cases, ...bare].flatMap(({ attempts }) =>
      attempts.flatMap((attempt) => attempt.turns),
    );
    const known = turns.flatMap(({ cost_usd: cost }) => cost ?? []);
    costs.push({
      id,
      at: started,
      right: cases.filter(({ outcome }) => outcome === 'pass').length,
      cases: cases.length,
      costUsd: known.length < turns.length ? null : known.reduce((sum, cost) => sum + cost, 0),
    });
  }
  return costs;
}
