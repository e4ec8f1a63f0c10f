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
