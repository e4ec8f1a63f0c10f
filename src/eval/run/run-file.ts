import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { UserError } from '../../lib/error.ts';
import { parseJson } from '../../lib/json.ts';
import { didYouMean } from '../../lib/suggest.ts';
import { ensureStateDirectory, projectPaths } from '../../store/directories.ts';
import { undefinedIfMissing, readText, writeAtomically } from '../../store/files.ts';
import { runSchema, type EvalRun } from './run-schema.ts';

/** Writes the run to `.ktx/evals`, atomically. Returns the path. */
export async function writeRun(projectDir: string, run: EvalRun): Promise<string> {
  const { evals } = ensureStateDirectory(projectDir);
  const path = join(evals, `${run.id}.json`);
  await writeAtomically(path, `${JSON.stringify(run, undefined, 1)}\n`, { within: projectDir });
  return path;
}

/**
 * Reads a run by its id, as `last` or `previous` (the one before the last), or from a file such as
 * a baseline in git. A file is looked for in `cwd` first, then in the project. Throws `run_unknown`
 * or `run_unreadable`.
 */
export async function readRun(projectDir: string, name: string, cwd: string): Promise<EvalRun> {
  const ids = await listRunIds(projectDir);
  for (const path of candidatePaths(name, ids, { projectDir, cwd })) {
    const text = await readText(path);
    if (text === undefined) continue;
    const { data } = runSchema.safeParse(parseJson(text));
    if (data !== undefined) return data;
    throw new UserError('run_unreadable', `ktx cannot read the run ${path}.`, {
      hint: 'another version of ktx wrote the file, or it is cut off: run the eval again',
      exitCode: 2,
    });
  }
  throw unknownRunError(name, ids);
}

function candidatePaths(
  name: string,
  ids: readonly string[],
  { projectDir, cwd }: { readonly projectDir: string; readonly cwd: string },
): readonly string[] {
  if (name.endsWith('.json')) return [resolve(cwd, name), resolve(projectDir, name)];
  const id = name === 'last' ? ids.at(-1) : name === 'previous' ? ids.at(-2) : name;
  return id === undefined ? [] : [join(projectPaths(projectDir).evals, `${id}.json`)];
}

function unknownRunError(name: string, ids: readonly string[]): UserError {
  const last = ids.at(-1);
  const hint =
    last === undefined ? 'ktx eval run' : (didYouMean(name, ids) ?? `the last one: ${last}`);
  const message =
    last === undefined
      ? 'There are no eval runs in .ktx/evals.'
      : `There is no run ${name} in .ktx/evals.`;
  return new UserError('run_unknown', message, { hint, exitCode: 2 });
}

/**
 * The newest runs, at most `limit`, oldest first, without the answers, which would fill the memory.
 * Files that cannot be read are left out.
 */
export async function readPastRuns(projectDir: string, limit: number): Promise<readonly EvalRun[]> {
  const ids = (await listRunIds(projectDir)).slice(-limit);
  const { evals } = projectPaths(projectDir);
  const runs: EvalRun[] = [];
  for (const id of ids) {
    const text = (await readText(join(evals, `${id}.json`), projectDir)) ?? '';
    const { data } = runSchema.safeParse(parseJson(text));
    if (data !== undefined) runs.push(withoutAnswers(data));
  }
  return runs;
}

function withoutAnswers(run: EvalRun): EvalRun {
  const strip = (cases: EvalRun['cases']): EvalRun['cases'] =>
    cases.map((result) => ({
      ...result,
      attempts: result.attempts.map(({ outcome }) => ({ outcome, turns: [] })),
    }));
  return {
    ...run,
    cases: strip(run.cases),
    ...(run.without_context && { without_context: strip(run.without_context) }),
  };
}

/** Oldest first, because an id begins with its time. */
async function listRunIds(projectDir: string): Promise<readonly string[]> {
  const names = (await readdir(projectPaths(projectDir).evals).catch(undefinedIfMissing)) ?? [];
  return names
    .flatMap((name) => (/^[^.].*\.json$/.test(name) ? [name.slice(0, -'.json'.length)] : []))
    .sort();
}
