import { existsSync } from 'node:fs';
import type { IngestEvent, IngestReport } from '../../ingest/event.ts';
import { runIngest, type IngestInput } from '../../ingest/ingest.ts';
import type { LoopTools } from '../../ingest/loop-tools.ts';
import type { SourceInput } from '../../ingest/fetch/read-sources.ts';
import { reportRunUsage } from '../../ingest/run-usage.ts';
import { UserError } from '../../lib/error.ts';
import { didYouMean } from '../../lib/suggest.ts';
import { storedNotes } from '../../sources/notes/inbox.ts';
import { openNotes, openSource } from '../../sources/registry.ts';
import { itemPath } from '../../sources/source.ts';
import { projectPaths } from '../../store/directories.ts';
import { notesName, listSources } from '../open/config.ts';
import { sourcesToForget, listRemovedSources } from './removed-sources.ts';
import { tidyInbox } from './inbox.ts';
import { fileStamp } from '../open/model-files.ts';
import type { Project } from '../open/open.ts';
import { refreshIndex } from '../answer/search.ts';
import { fileConnectionFlags } from '../../warehouse/config.ts';

interface Asked extends Pick<
  IngestInput,
  'dryRun' | 'signal' | 'onEvent' | 'pin' | 'reExtract' | 'allowEmpty'
> {
  /** Warehouses and sources; all of them where it is empty. */
  readonly connections: readonly string[];
  /** Sources that `ktx.yaml` no longer has: what only they supported goes. Alone, nothing else is read. */
  readonly forget?: readonly string[] | undefined;
  /** False: as if no model were configured. */
  readonly llm?: boolean;
  /** On what it writes; that of the process where it is left out. */
  readonly runId?: string;
  /** US dollars that the run may cost, in place of what `ktx.yaml` allows. */
  readonly budget?: number | undefined;
  /** What loops of a model may use; without them a model reads no prose. */
  readonly tools?: LoopTools | undefined;
}

/** Brings the named connections of the project up to date. */
export async function ingestProject(
  project: Project,
  { connections, forget = [], llm = true, tools, budget, runId = project.runId, ...run }: Asked,
): Promise<IngestReport> {
  const sources = listSources(project.config);
  const isSource = (name: string) =>
    name === notesName || sources.some(([source]) => source === name);
  const names = Object.keys(project.config.connections);
  const isAll = connections.length === 0 && forget.length === 0;
  const asked = run.pin === undefined ? new Set(isAll ? names : connections) : new Set<string>();
  if (names.length === 0) project.connection();
  const unknown = [...asked].find((name) => !isSource(name) && !names.includes(name));
  if (unknown !== undefined) {
    const options = {
      hint: didYouMean(unknown, names) ?? `one of ${names.join(', ')}`,
      exitCode: 2,
      details: { choices: names },
    } as const;
    throw new UserError('connection_unknown', `ktx.yaml has no connection ${unknown}.`, options);
  }
  const warehouses = [...asked]
    .filter((name) => !isSource(name))
    .map((name) => project.connection(name));
  if (project.warehouses.length === 0) {
    throw new UserError('no_connection', 'ktx.yaml has no warehouse for its sources to speak of.', {
      hint: `ktx connection add <name> ${fileConnectionFlags}`,
      exitCode: 2,
    });
  }
  const configured = sources.map(([name, config]): SourceInput => ({
    name,
    open: () => openSource(config),
    isAsked: asked.has(name),
  }));
  const notes = (await hasNotes(project.dir))
    ? [{ name: notesName, open: openNotes, isAsked: run.pin === undefined }]
    : [];
  const former =
    forget.length === 0 ? [] : sourcesToForget(forget, await listRemovedSources(project));
  const emit = (event: IngestEvent): void => run.onEvent?.(event);
  using _ = project.hearPauses(({ window, until }) =>
    emit({ type: 'rate_limited', window, resetsAt: until.toISOString() }),
  );
  const isWork = warehouses.length > 0 || [...asked].some(isSource);
  const isModel = llm && isWork;
  const stepBudget = project.config.ingest.steps_per_unit;
  await using model =
    isModel && run.dryRun !== true
      ? await modelOf(project, { id: runId, budget, signal: run.signal, emit })
      : undefined;
  const report = await runIngest({
    ...run,
    ahead: isModel && run.dryRun === true ? await aheadOf(project) : undefined,
    model: model && { ...model, samples: project.config.scan.send_samples },
    reader: model && tools && { ...model, tools, stepBudget },
    dir: project.dir,
    runId,
    connections: warehouses,
    standing: project.warehouses.filter((name) => !asked.has(name)),
    sources: [...configured, ...notes, ...former],
    scan: project.config.scan,
    updateIndex: (state) => refreshIndex(project, state),
    warehouse: (name, signal) => project.warehouse(name, signal),
  });
  if (!report.dryRun) await tidyInbox(project.dir);
  return report;
}

async function hasNotes(dir: string): Promise<boolean> {
  return (
    fileStamp(dir, itemPath(notesName, 'index.jsonl')) !== undefined ||
    (await storedNotes(dir)).length > 0
  );
}

interface ModelRun {
  readonly id: string;
  readonly budget: number | undefined;
  readonly signal: AbortSignal;
  readonly emit: (event: IngestEvent) => void;
}

/** Undefined where no model is configured. One that cannot be used fails here, before any work. */
async function modelOf(project: Project, { id, budget, signal, emit }: ModelRun) {
  const runtime = await project.llmRun({ id, budget });
  if (runtime === undefined) return undefined;
  await runtime.account(signal);
  return {
    runtime: reportRunUsage(runtime, emit),
    concurrency: runtime.concurrency,
    journal: project.journal(),
    [Symbol.asyncDispose]: () => runtime.close(),
  };
}

/** What a dry run can know of the model, without asking it and without writing anything. */
async function aheadOf({ dir, config, journal }: Project) {
  const { llm, ingest: own } = config;
  if (llm.provider.backend === 'none') return undefined;
  const { pricesOf } = await import('../../llm/governor/prices.ts');
  const known = existsSync(projectPaths(dir).journalDb) ? journal() : undefined;
  return { journal: known, stepBudget: own.steps_per_unit, priced: pricesOf(llm, known?.db) };
}
