import type { IngestEvent } from '../../ingest/event.ts';
import type { IngestReport } from '../../ingest/report.ts';
import type { LoopTools } from '../../ingest/loop-tools.ts';
import { describeStep } from '../../ingest/step-text.ts';
import { UserError } from '../../lib/error.ts';
import { newId } from '../../lib/id.ts';
import type { ProposedChange, ProposeOptions } from '../propose/propose-change.ts';
import type { Project } from '../open/open.ts';

type IngestOutcome =
  | { readonly report: IngestReport; readonly change?: ProposedChange }
  /** The host of the proposal was away before anything was read. */
  | { readonly change: ProposedChange; readonly report?: undefined }
  | { readonly failure: UserError }
  | { readonly isCancelled: true };

/** An ingest in the background of this process. */
export interface IngestRun {
  readonly id: string;
  /** Sorted names; empty means all connections. */
  readonly connections: readonly string[];
  /** The current step, in words for a person. */
  readonly step: () => string;
  /** Undefined while it runs. */
  readonly outcome: () => IngestOutcome | undefined;
  /** Resolves when the run ends, successfully or not; never rejects. */
  readonly ended: Promise<void>;
  /** What is already committed stays. */
  readonly cancel: () => void;
}

/**
 * The runs that this process started. All views of a project have one configuration, so one list.
 */
const startedRuns = new WeakMap<Project['config'], IngestRun[]>();
const maxEndedRuns = 20;

/**
 * Starts an ingest, or joins a running one of the same connections. A new run waits for any other
 * run on the project, also of another process, and its step says so.
 */
export function startIngest(
  project: Project,
  requested: readonly string[],
  loadTools: () => Promise<LoopTools>,
): { readonly run: IngestRun; readonly isNew: boolean } {
  const connections = [...new Set(requested)].sort();
  const runs = startedRuns.get(project.config) ?? [];
  const same = runs.find((run) => isRunning(run) && run.connections.join() === connections.join());
  if (same !== undefined) return { run: same, isNew: false };
  const run = beginRun(project, connections, loadTools);
  // Running ones always stay in the list: the process waits for them before it ends.
  const ended = runs.filter((earlier) => !isRunning(earlier)).slice(-maxEndedRuns);
  startedRuns.set(project.config, [
    ...runs.filter((earlier) => isRunning(earlier) || ended.includes(earlier)),
    run,
  ]);
  return { run, isNew: true };
}

function isRunning(run: IngestRun): boolean {
  return run.outcome() === undefined;
}

/**
 * Undefined if this process does not know the run: it ended long ago, or another process started
 * it.
 */
export function findIngestRun(project: Project, id: string): IngestRun | undefined {
  return startedRuns.get(project.config)?.find((run) => run.id === id);
}

/**
 * Lists the runs of a project under another that takes its place, and waits until they ended: they
 * use the first one, which can then be closed.
 */
export async function handOverIngests(from: Project, to: Project): Promise<void> {
  const runs = startedRuns.get(from.config) ?? [];
  startedRuns.delete(from.config);
  startedRuns.set(to.config, [...(startedRuns.get(to.config) ?? []), ...runs]);
  await Promise.all(runs.map(({ ended }) => ended));
}

/** Cancels all running ingests and waits until they ended. Call it before the project is closed. */
export async function endIngests(project: Project): Promise<void> {
  const runs = startedRuns.get(project.config) ?? [];
  for (const run of runs) run.cancel();
  await Promise.all(runs.map(({ ended }) => ended));
}

function beginRun(
  project: Project,
  connections: readonly string[],
  loadTools: () => Promise<LoopTools>,
): IngestRun {
  const id = newId('run');
  const stop = new AbortController();
  let step = 'starting';
  let outcome: IngestOutcome | undefined;
  const onEvent = (event: IngestEvent) => (step = describeStep(event) ?? step);
  const work = async () => {
    try {
      const options = { runId: id, tools: await loadTools(), signal: stop.signal, onEvent };
      const { ingestProject } = await import('./ingest.ts');
      outcome =
        project.proposes === true
          ? await proposeIngest(project, connections, options)
          : { report: await ingestProject(project, { connections, ...options }) };
    } catch (error) {
      if (stop.signal.aborted) outcome = { isCancelled: true };
      else outcome = { failure: error instanceof UserError ? error : internalError(error) };
    }
  };
  const ended = work();
  return {
    id,
    connections,
    step: () => step,
    outcome: () => outcome,
    ended,
    cancel: () => stop.abort(),
  };
}

async function proposeIngest(
  project: Project,
  connections: readonly string[],
  options: ProposeOptions,
): Promise<IngestOutcome> {
  const { proposeChange } = await import('../propose/propose-change.ts');
  const proposal = { kind: 'ingest' as const, connections: [...connections] };
  const { report, ...change } = await proposeChange(project, proposal, options);
  return report === undefined ? { change } : { report, change };
}

function internalError(cause: unknown): UserError {
  return new UserError('internal', 'A bug in ktx ended the run.', {
    hint: 'ktx ingest --debug shows where',
    cause,
  });
}
