import { appendFileSync, mkdirSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { z } from 'zod';
import { errorMessage, UserError } from '../../lib/error.ts';
import { parseJson } from '../../lib/json.ts';
import { ensureStateDirectory, projectPaths } from '../../store/directories.ts';
import { readText, undefinedIfMissing } from '../../store/files.ts';
import { attemptLogSchemas, type CaseResult, type EvalRun } from './run-schema.ts';

export type AttemptLogHeader = z.infer<typeof attemptLogSchemas.header>;
export type FinishedAttempt = z.infer<typeof attemptLogSchemas.attempt>;

/** The attempts at a case that need not be paid for again. */
export type FinishedAttempts = (
  place: Pick<FinishedAttempt, 'case' | 'context' | 'condition'>,
) => CaseResult['attempts'];

/** What a log belongs to: `ktx eval run` or `ktx bench`. */
export type LoggedCommand = 'eval' | 'bench';
const suffixes = { eval: '.attempts.jsonl', bench: '.bench.jsonl' } as const;

/**
 * A run that has not ended: each attempt is a line as soon as it ends. A disk that refuses one ends
 * the log and not the run, whose answers are paid for: `onFailure` is told once.
 */
export interface AttemptLog {
  append(attempt: FinishedAttempt): void;
  /** Removes the file: the run itself is kept. */
  remove(): Promise<void>;
}

/** Begins a log, or continues that of an earlier run with the same id. */
export function openAttemptLog(
  projectDir: string,
  { of = 'eval', ...header }: AttemptLogHeader & { readonly of?: LoggedCommand },
  onFailure: (message: string) => void,
): AttemptLog {
  const { evals } = ensureStateDirectory(projectDir);
  mkdirSync(evals, { recursive: true, mode: 0o700 });
  const path = join(evals, `${header.id}${suffixes[of]}`);
  // Begins with a line break: the last line of a run that was killed may be cut off.
  let hasFailed = false;
  const append = (line: object): void => {
    if (hasFailed) return;
    try {
      appendFileSync(path, `\n${JSON.stringify(line)}`, { mode: 0o600 });
    } catch (error) {
      hasFailed = true;
      onFailure(`${path} cannot be written; --resume will miss answers: ${errorMessage(error)}`);
    }
  };
  append(header);
  return { append, remove: () => rm(path, { force: true }) };
}

export interface UnfinishedRun {
  readonly header: AttemptLogHeader;
  readonly done: FinishedAttempts;
  /** How many attempts are kept. */
  readonly kept: number;
}

/** The newest run that did not end. Throws `run_unknown` if there is none. */
export async function readUnfinishedRun(
  projectDir: string,
  of: LoggedCommand = 'eval',
): Promise<UnfinishedRun> {
  const { evals } = projectPaths(projectDir);
  const names = (await readdir(evals).catch(undefinedIfMissing)) ?? [];
  const logs = names.filter((name) => name.endsWith(suffixes[of])).sort();
  for (const name of logs.toReversed()) {
    const lines = ((await readText(join(evals, name), projectDir)) ?? '').split('\n');
    const header = lines
      .map((line) => attemptLogSchemas.header.safeParse(parseJson(line)).data)
      .find((data) => data !== undefined);
    if (header !== undefined) return { header, ...finishedAttempts(lines) };
  }
  throw new UserError('run_unknown', `There is no ${of} run that can be resumed.`, {
    hint: of === 'eval' ? 'ktx eval run' : 'ktx bench',
    exitCode: 2,
  });
}

/** The line under way when the process died is cut off, and left out. */
function finishedAttempts(lines: readonly string[]): Omit<UnfinishedRun, 'header'> {
  const attempts = lines
    .flatMap((line) => attemptLogSchemas.attempt.safeParse(parseJson(line)).data ?? [])
    .filter(({ attempt: { outcome } }) => outcome !== 'error' && outcome !== 'skipped');
  const done: FinishedAttempts = (place) =>
    attempts
      .filter(
        (known) =>
          known.case === place.case &&
          known.context === place.context &&
          known.condition === place.condition,
      )
      .map(({ attempt }) => attempt);
  return { done, kept: attempts.length };
}

/** Throws `eval_changed` if answers of the two contexts do not belong into one run. */
export function requireSameContext(before: EvalRun['context'], now: EvalRun['context']): void {
  const parts = ['questions', 'agents', 'semantic_layer', 'wiki'] as const;
  const changed = parts.filter(
    (part) => JSON.stringify(before[part]) !== JSON.stringify(now[part]),
  );
  if (changed.length === 0) return;
  throw new UserError(
    'eval_changed',
    `Since the run began, these have changed: ${changed.join(', ')}. Its answers do not belong to the new ones.`,
    { hint: 'ktx eval run begins a new run', exitCode: 2 },
  );
}
