import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { IngestReport } from '../ingest/report.ts';
import { formatCount } from '../lib/format-count.ts';
import { UserError } from '../lib/error.ts';
import { findIngestRun, startIngest, type IngestRun } from '../project/learn/ingest-runs.ts';
import { changeDetails } from './answers/describe-change.ts';
import { carriesNone, type ToolAnswer, type ToolDefinition } from './tool.ts';

const inputSchema = z.strictObject({
  connections: z.array(z.string()).optional().describe('Default: all.'),
  run: z.string().optional().describe('Id of a run: returns its state.'),
  cancel: z.boolean().default(false),
  wait: z.int().min(0).max(50).default(25).describe('Seconds to wait for the end.'),
});

const maxListed = 10;
/** In milliseconds: what a timer can wait. */
const longestTimer = 2 ** 31 - 1;

export const ingestTool: ToolDefinition<typeof inputSchema> = {
  name: 'ingest',
  description:
    'Updates the project from warehouses and sources. If it takes long, returns a run id to ask again.',
  effect: 'write',
  inputSchema,
  itemsName: 'text',
  isShort: true,
  takesLong: ({ run }) => run === undefined,
  async run({ connections = [], run: id, cancel, wait }, context) {
    const { project, signal, loops, reportStep, isAwaited } = context;
    if (cancel && id === undefined) throw nothingToCancel();
    const { run, isNew } =
      id === undefined
        ? startIngest(project, connections, loops)
        : { run: findIngestRun(project, id), isNew: false };
    if (run === undefined) {
      const hint =
        'Only the server that started a run knows it, until it stops. Start another one; finished work is not repeated.';
      throw new UserError('run_unknown', `There is no run ${id}.`, { hint, exitCode: 2 });
    }
    if (cancel) run.cancel();
    const tick = setInterval(() => reportStep(run.step()), 250);
    try {
      const longest = isAwaited ? longestTimer : wait * 1000;
      await Promise.race([run.ended, sleep(longest, undefined, { signal, ref: false })]);
    } catch (error) {
      // Cancelling the call that started the run cancels the run; a call that only joined it does
      // not.
      if (isNew) run.cancel();
      throw error;
    } finally {
      clearInterval(tick);
    }
    return runAnswer(run);
  },
};

function nothingToCancel(): UserError {
  return new UserError('invalid_input', 'cancel: needs run, the id of the run to cancel', {
    hint: 'The call that started it returned the id.',
    exitCode: 2,
  });
}

function runAnswer(run: IngestRun): ToolAnswer {
  const outcome = run.outcome();
  if (outcome === undefined) return statusAnswer(run, 'running', { step: run.step() });
  if ('isCancelled' in outcome) return statusAnswer(run, 'cancelled', { kept: 'finished work' });
  if ('failure' in outcome) throw outcome.failure;
  const { report, change } = outcome;
  const proposed = change && { proposed: changeDetails(change) };
  if (report === undefined) return statusAnswer(run, 'kept', { ...proposed });
  const { exitCode } = report;
  const status = exitCode === 0 ? 'complete' : exitCode === 3 ? 'partial' : 'failed';
  const { commit, ...read } = summarizeReport(report);
  return statusAnswer(run, status, proposed ? { ...read, ...proposed } : { ...read, commit });
}

function statusAnswer(run: IngestRun, status: string, details: object): ToolAnswer {
  return {
    summary: `Run ${run.id}: ${status}.`,
    trust: { status: 'ad_hoc' },
    items: [JSON.stringify({ run: run.id, status, ...details })],
    values: carriesNone,
  };
}

/** The report in few tokens: counts, and the first entries of each list. */
function summarizeReport({
  connections,
  sources,
  stages,
  files,
  conflicts,
  quarantined,
  unfit,
  stale,
  commit,
}: IngestReport) {
  const pending = sources.flatMap((source) =>
    source.pending.map((key) => `${source.connection}/${key}`),
  );
  const firstOf = <T>(list: readonly T[]) =>
    list.length === 0 ? undefined : { count: list.length, first: list.slice(0, maxListed) };
  return {
    read: [
      ...connections.map(({ connection, tables, failure }) => ({
        connection,
        tables,
        failure: failure?.message,
      })),
      ...sources.map(({ connection, items, total, failure }) => {
        const { added = [], changed = [], gone = [], failed = [] } = items ?? {};
        const counts = { added: added.length, changed: changed.length, gone: gone.length };
        return {
          connection,
          items: total,
          ...(items && counts),
          failed: firstOf(failed),
          failure: failure?.message,
        };
      }),
    ],
    stages: stages.length === 0 ? undefined : stages,
    files: Object.fromEntries(
      Object.entries(files).map(([change, paths]) => [change, firstOf(paths)]),
    ),
    commit: commit.id ?? commit.none,
    contested: firstOf(conflicts.map(({ subject }) => subject)),
    left_out: firstOf(quarantined),
    stale: firstOf(stale),
    pending: firstOf(pending),
    no_place: unfit.length === 0 ? undefined : formatCount(unfit.length, 'statement'),
    next:
      conflicts.length + quarantined.length + pending.length > 0
        ? 'call review_status to see what each needs'
        : undefined,
  };
}
