import type { IngestEvent, IngestReport } from '../../ingest/event.ts';
import type { LoopTools } from '../../ingest/loop-tools.ts';
import { describeStep } from '../../ingest/step-text.ts';
import { UserError } from '../../lib/error.ts';
import { newId } from '../../lib/id.ts';
import { ingestProject } from './ingest.ts';
import type { Project } from '../open/open.ts';

type Outcome =
  | { readonly report: IngestReport }
  | { readonly failure: UserError }
  | { readonly isCancelled: true };

/** An ingest that goes on while its caller does something else. */
export interface IngestRun {
  readonly id: string;
  /** Sorted; all where it is empty. */
  readonly connections: readonly string[];
  /** What it does now, for a person. */
  readonly step: () => string;
  /** Undefined while it runs. */
  readonly outcome: () => Outcome | undefined;
  /** Resolves when it ended, however; never rejects. */
  readonly ended: Promise<void>;
  /** What is finished stays. */
  readonly cancel: () => void;
}

/** The runs that this process started, by their project. */
const started = new WeakMap<Project, IngestRun[]>();
const kept = 20;

/**
 * Starts an ingest, or joins the one of the same connections that is under way. It waits for any other run on the project, of this
 * process or another, and its step says so.
 */
export function startIngest(
  project: Project,
  wanted: readonly string[],
  tools: LoopTools,
): { readonly run: IngestRun; readonly isNew: boolean } {
  const connections = [...new Set(wanted)].sort();
  const all = started.get(project) ?? [];
  const same = all.find(
    (run) => run.outcome() === undefined && run.connections.join() === connections.join(),
  );
  if (same !== undefined) return { run: same, isNew: false };
  const run = beginRun(project, connections, tools);
  // A run that is under way always stays: the process waits for it before it ends.
  const ended = all.filter((one) => one.outcome() !== undefined).slice(-kept);
  started.set(project, [
    ...all.filter((one) => ended.includes(one) || one.outcome() === undefined),
    run,
  ]);
  return { run, isNew: true };
}

/** Undefined where this process knows no such run: it ended, or is another's. */
export function ingestRun(project: Project, id: string): IngestRun | undefined {
  return started.get(project)?.find((run) => run.id === id);
}

/** Cancels what is under way and waits until it has ended. To be called before the project is closed. */
export async function endIngests(project: Project): Promise<void> {
  const runs = started.get(project) ?? [];
  for (const run of runs) run.cancel();
  await Promise.all(runs.map(({ ended }) => ended));
}

function beginRun(project: Project, connections: readonly string[], tools: LoopTools): IngestRun {
  const id = newId('run');
  const stop = new AbortController();
  let step = 'starting';
  let outcome: Outcome | undefined;
  const onEvent = (event: IngestEvent) => (step = describeStep(event) ?? step);
  const work = async () => {
    try {
      outcome = {
        report: await ingestProject(project, {
          connections,
          runId: id,
          tools,
          signal: stop.signal,
          onEvent,
        }),
      };
    } catch (error) {
      if (stop.signal.aborted) outcome = { isCancelled: true };
      else outcome = { failure: error instanceof UserError ? error : defect(error) };
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

function defect(cause: unknown): UserError {
  return new UserError('internal', 'A defect in ktx ended the run.', {
    hint: 'ktx ingest --debug shows where',
    cause,
  });
}
