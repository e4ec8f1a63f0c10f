import type { IngestEvent } from '../../../ingest/event.ts';
import type { IngestReport } from '../../../ingest/report.ts';
import { UserError } from '../../../lib/error.ts';
import type { UsageLine } from '../../../llm/governor/usage.ts';
import type { ingestProject } from '../../../project/learn/ingest.ts';
import type { Project } from '../../../project/open/open.ts';
import type { CommandContext } from '../../command.ts';
import { openIngestView } from './ingest-view.ts';
import { plannedReadsText } from './planned-reads-text.ts';

type IngestOptions = Pick<
  Parameters<typeof ingestProject>[1],
  | 'connections'
  | 'forget'
  | 'dryRun'
  | 'llm'
  | 'reExtract'
  | 'allowEmpty'
  | 'budget'
  | 'commit'
  | 'branch'
  | 'queue'
>;

/** Runs an ingest. Each event is a line of `--json`; a person sees the current step. */
export async function runIngest(project: Project, options: IngestOptions, context: CommandContext) {
  const [{ ingestProject }, { loopTools }] = await Promise.all([
    import('../../../project/learn/ingest.ts'),
    import('../../../tools/loop-tools.ts'),
  ]);
  const progressOf = openIngestView();
  const onEvent = (event: IngestEvent) => {
    // The runner reports pauses, for all commands.
    if (event.type === 'rate_limited' || event.type === 'model_retried') return;
    context.printEvent(event);
    if (event.type === 'lock_awaited') return context.printNote(event.message);
    if (event.type === 'scan_planned')
      return context.printNote(`${event.connection}: ${plannedReadsText(event)}`);
    const progress = progressOf(event);
    if (progress !== undefined) context.progress.show(progress);
  };
  const tools = loopTools(project);
  return ingestProject(project, { ...options, tools, signal: context.signal, onEvent });
}

/** Model calls of this run. */
export async function loadRunUsage(project: Project): Promise<readonly UsageLine[]> {
  const { usageReport } = await import('../../../llm/governor/usage.ts');
  return usageReport(project.journal().db, { run: project.runId });
}

/** The first failure of a connection, otherwise of a model stage; with the exit code of the run. */
export function ingestFailure(report: IngestReport): UserError | undefined {
  const { connections, sources, stages, meanings, exitCode } = report;
  const failure = [...connections, ...sources].find((each) => each.failure !== undefined)?.failure;
  if (failure !== undefined)
    return new UserError(failure.code, failure.message, { ...failure, exitCode });
  const modelWork = [
    ...connections.flatMap(({ descriptions, judgements, names }) => [
      { what: 'tables described', ...descriptions },
      { what: 'doubtful links judged', ...judgements },
      { what: 'names compared by their meaning', ...names },
    ]),
    { what: 'texts have a vector for the search', ...meanings },
  ];
  const failed = modelWork.find((work) => work.failure !== undefined);
  if (failed?.failure === undefined) return stageFailure(stages, exitCode);
  const message = `${failed.done} of ${failed.total} ${failed.what}: ${failed.failure.message}`;
  return new UserError(failed.failure.code, message, { ...failed.failure, exitCode });
}

function stageFailure(
  stages: IngestReport['stages'],
  exitCode: IngestReport['exitCode'],
): UserError | undefined {
  const stage = stages.find(({ failures }) => failures.length > 0);
  const [failure] = stage?.failures ?? [];
  if (stage === undefined || failure === undefined) return undefined;
  const message = `${stage.stage}: ${stage.done} done, ${stage.pending} pending: ${failure.message}`;
  return new UserError(failure.code, message, { ...failure, exitCode });
}
