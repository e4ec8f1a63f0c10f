import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { IngestReport } from '../ingest/report.ts';
import { formatCount } from '../lib/format-count.ts';
import { UserError } from '../lib/error.ts';
import { ingestRun, startIngest, type IngestRun } from '../project/learn/ingest-runs.ts';
import type { Answer, ToolDefinition } from './tool.ts';

const inputSchema = z.strictObject({
  connections: z.array(z.string()).optional().describe('All where left out.'),
  run: z.string().optional().describe('Id of a run: how far it is.'),
  cancel: z.boolean().default(false).describe('Stops that run.'),
  wait: z.int().min(0).max(50).default(25).describe('Seconds to wait for its end.'),
});

const shown = 10;

export const ingestTool: ToolDefinition<typeof inputSchema> = {
  name: 'ingest',
  description:
    'Brings the project up to date with warehouses and sources. Where it takes long: a run id to ask again with.',
  effect: 'write',
  inputSchema,
  itemsName: 'text',
  isShort: true,
  async run({ connections = [], run: id, cancel, wait }, { project, signal, loops, say }) {
    const { run, isNew } =
      id === undefined
        ? startIngest(project, connections, loops)
        : { run: ingestRun(project, id), isNew: false };
    if (run === undefined) {
      const hint =
        'A run is known to the server that started it, while that lives. Start another: what is done is not done again.';
      throw new UserError('run_unknown', `There is no run ${id}.`, { hint, exitCode: 2 });
    }
    // Whoever takes back the call that started a run takes back the run; one that joined it does not.
    if (cancel) run.cancel();
    const tick = setInterval(() => say(run.step()), 250);
    try {
      await Promise.race([run.ended, sleep(wait * 1000, undefined, { signal, ref: false })]);
    } catch (error) {
      if (isNew) run.cancel();
      throw error;
    } finally {
      clearInterval(tick);
    }
    return answerOf(run);
  },
};

function answerOf(run: IngestRun): Answer {
  const outcome = run.outcome();
  const told = (status: string, found: object): Answer => {
    return {
      summary: `Run ${run.id}: ${status}.`,
      trust: { status: 'ad_hoc' },
      items: [JSON.stringify({ run: run.id, status, ...found })],
    };
  };
  if (outcome === undefined) return told('running', { step: run.step() });
  if ('isCancelled' in outcome) return told('cancelled', { kept: 'what was finished' });
  if ('failure' in outcome) throw outcome.failure;
  const { exitCode } = outcome.report;
  return told(
    exitCode === 0 ? 'complete' : exitCode === 3 ? 'partial' : 'failed',
    reportOf(outcome.report),
  );
}

function reportOf({
  connections,
  sources,
  stages,
  files,
  conflicts,
  quarantined,
  unfit,
  stale,
  commit,
}: IngestReport): object {
  const pending = sources.flatMap((source) =>
    source.pending.map((key) => `${source.connection}/${key}`),
  );
  const few = <T>(list: readonly T[]) =>
    list.length === 0 ? undefined : { count: list.length, first: list.slice(0, shown) };
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
          failed: few(failed),
          failure: failure?.message,
        };
      }),
    ],
    stages: stages.length === 0 ? undefined : stages,
    files: Object.fromEntries(Object.entries(files).map(([how, paths]) => [how, few(paths)])),
    commit: commit.id ?? commit.none,
    contested: few(conflicts.map(({ subject }) => subject)),
    left_out: few(quarantined),
    stale: few(stale),
    pending: few(pending),
    no_place: unfit.length === 0 ? undefined : formatCount(unfit.length, 'statement'),
    next:
      conflicts.length + quarantined.length + pending.length > 0
        ? 'review_status says what each needs'
        : undefined,
  };
}
