import { pauseEvent } from '../../llm/governor/retries/pause-event.ts';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { IngestEvent } from '../../ingest/event.ts';
import type { IngestReport } from '../../ingest/report.ts';
import { runIngestPipeline } from '../../ingest/ingest.ts';
import type { IngestInput } from '../../ingest/ingest-run.ts';
import type { LoopTools } from '../../ingest/loop-tools.ts';
import type { SourceInput } from '../../ingest/ingest-run.ts';
import { UserError } from '../../lib/error.ts';
import { durationMs } from '../../lib/time/duration.ts';
import { didYouMean, oneOf } from '../../lib/suggest.ts';
import { readStoredNotes } from '../../sources/notes/inbox.ts';
import { openNotes, type OpenSource, openSource } from '../../sources/registry.ts';
import { embedIndex } from '../../search/meanings/embed-index.ts';
import { commitTarget } from '../../store/commit/commit-target.ts';
import { projectPaths } from '../../store/directories.ts';
import { openRepository } from '../../store/git.ts';
import type { ReadSecret } from '../../store/secrets.ts';
import { refreshSearchIndex } from '../answer/search.ts';
import { readAuthority } from '../open/authority.ts';
import { listSources } from '../open/config.ts';
import { addWarehouseHint, type Project } from '../open/open.ts';
import { tidyInbox } from './inbox.ts';
import { openRunModels, type RunModelsOptions } from './open-run-models.ts';
import { openRunWorkers } from './workers/run-workers.ts';
import { listStandingQueries } from './standing-queries.ts';
import { listRemovedSources, chooseSourcesToForget } from './removed-sources.ts';
import { notesName } from '../../sources/notes/note-files.ts';
import { itemPath } from '../../sources/source.ts';
import { listConfinedFolder } from '../../store/confined-file.ts';

interface IngestRequest extends Pick<
  IngestInput,
  | 'dryRun'
  | 'signal'
  | 'onEvent'
  | 'pins'
  | 'beforeDecision'
  | 'reExtract'
  | 'allowEmpty'
  | 'sourceDir'
> {
  /** Names of warehouses and sources; empty means all of them. */
  readonly connections: readonly string[];
  /**
   * Sources that were removed from `ktx.yaml`: what only they supported is removed. Without
   * `connections` nothing else is read.
   */
  readonly forget?: readonly string[] | undefined;
  /** False ignores the configured model. */
  readonly llm?: boolean;
  /** Recorded with everything that it writes; defaults to that of the project. */
  readonly runId?: string;
  /** US dollars that the run may cost, instead of the limit in `ktx.yaml`. */
  readonly budget?: number | undefined;
  /** False: files are written and not committed, whatever `git` of `ktx.yaml` says. */
  readonly commit?: boolean | undefined;
  /** The branch to commit on, instead of the one that is checked out. It need not exist. */
  readonly branch?: string | undefined;
  /** True if processes of `ktx worker` read prose for this run. */
  readonly queue?: boolean | undefined;
  /** The tools of model loops; without them no model reads prose. */
  readonly tools?: LoopTools | undefined;
}

/** Brings the named connections of the project up to date. */
export async function ingestProject(
  project: Project,
  request: IngestRequest,
): Promise<IngestReport> {
  const { llm = true, tools, budget, runId = project.runId } = request;
  const { dryRun, signal, onEvent, pins, reExtract, allowEmpty, commit, branch } = request;
  // A wrong name is an error before a model is paid.
  if (branch !== undefined) await commitTarget(await openRepository(project.dir), branch);
  const requested = requestedConnections(project, request);
  const { warehouses, isSource } = requested;
  if (project.warehouses.length === 0) throw noWarehouseForSources();
  const { secrets, unapproved } = await approvedConnections(project, requested.names);
  if (warehouses.length > 0) await project.trust.requireQueryLogs();
  const sources = await sourceInputs(project, request, { ...requested, secrets, unapproved });
  const emit = (event: IngestEvent): void => onEvent?.(event);
  using _ = project.hearPauses((pause) => emit(pauseEvent(pause)));
  const hasWork = warehouses.length > 0 || [...requested.names].some(isSource);
  const usesModel = llm && hasWork;
  const { ingest: ingestConfig, scan: send } = project.config;
  const stepBudget = ingestConfig.steps_per_unit;
  const isUsed = usesModel && dryRun !== true;
  const run = { id: runId, budget, signal, emit, isUsed };
  await using readers = await openReaders(project, { ...run, queue: request.queue });
  const { model, embeddings, workers } = readers;
  const report = await runIngestPipeline({
    dryRun,
    signal,
    onEvent,
    pins,
    beforeDecision: request.beforeDecision,
    authority: readAuthority(project.config),
    reExtract,
    allowEmpty,
    git: gitMode(project.config.git, { commit, branch }),
    branch,
    estimateOptions: usesModel && dryRun === true ? await dryRunEstimate(project) : undefined,
    model: model && { ...model, send },
    embeddings,
    workers,
    reader: model && tools && { ...model, tools, stepBudget, send },
    dir: project.dir,
    sourceDir: request.sourceDir,
    runId,
    connections: warehouses,
    otherWarehouses: project.warehouses.filter((name) => !requested.names.has(name)),
    sources,
    standingQueries: () => listStandingQueries(project),
    scan: project.config.scan,
    longestServerWait: durationMs(ingestConfig.max_wait),
    updateIndex: async (state) => {
      await refreshSearchIndex(project, state);
      return embeddings && embedIndex(state, embeddings, signal);
    },
    warehouse: (name, caller) => project.loginWarehouse(name, caller),
  });
  if (!report.dryRun) await tidyInbox(project.dir);
  return report;
}

interface ReadersOptions extends RunModelsOptions {
  readonly queue: boolean | undefined;
}

/** The models of a run, and the workers that read for it. */
async function openReaders(project: Project, { queue, ...run }: ReadersOptions) {
  await using opened = new AsyncDisposableStack();
  const isQueued = run.isUsed && queue === true;
  const queued = isQueued ? opened.use(await openRunWorkers(project, run)) : undefined;
  const { spending, workers, journal } = queued ?? {};
  const models = opened.use(await openRunModels(project, { ...run, spending, journal }));
  const disposal = opened.move();
  return { ...models, workers, [Symbol.asyncDispose]: () => disposal.disposeAsync() };
}

/** Whoever names a branch asks for a commit, though not past hooks and signatures. */
function gitMode(
  configured: 'commit' | 'write' | undefined,
  { commit, branch }: Pick<IngestRequest, 'commit' | 'branch'>,
): 'commit' | 'write' | undefined {
  if (commit === false) return 'write';
  return branch !== undefined && configured === 'write' ? undefined : configured;
}

interface ApprovedConnections {
  readonly secrets: ReadSecret;
  /** Names of connections that nobody has approved on this machine. */
  readonly unapproved: ReadonlySet<string>;
}

/**
 * The secrets of the connections that a person has approved, and the names of the others: those
 * fail by themselves, and the rest of the run goes on. Throws `trust_required` if none is approved.
 */
async function approvedConnections(
  { trust }: Project,
  names: ReadonlySet<string>,
): Promise<ApprovedConnections> {
  const listUnapproved = async () => {
    const checked = await Promise.all(
      [...names].map(async (name) => ({
        name,
        isApproved: await trust.isConnectionApproved(name),
      })),
    );
    return new Set(checked.flatMap(({ name, isApproved }) => (isApproved ? [] : [name])));
  };
  if ((await listUnapproved()).size > 0) await trust.askNow();
  const unapproved = await listUnapproved();
  const approved = names.difference(unapproved);
  const required = approved.size === 0 ? names : approved;
  return { secrets: await trust.requireConnections([...required]), unapproved };
}

interface RequestedConnections {
  readonly names: ReadonlySet<string>;
  readonly warehouses: IngestInput['connections'];
  readonly isSource: (name: string) => boolean;
}

/**
 * Resolves the names of the request; throws if one is not in `ktx.yaml`. A decision reads none.
 */
function requestedConnections(
  project: Project,
  { connections, forget = [], pins }: IngestRequest,
): RequestedConnections {
  const configured = Object.keys(project.config.connections);
  const sources = new Set([notesName, ...listSources(project.config).map(([name]) => name)]);
  const isSource = (name: string) => sources.has(name);
  const isAll = connections.length === 0 && forget.length === 0;
  const names = new Set(pins === undefined ? (isAll ? configured : connections) : []);
  // Throws: a project without connections has nothing to ingest.
  if (configured.length === 0) project.connection();
  const unknown = [...names].find((name) => !isSource(name) && !configured.includes(name));
  if (unknown !== undefined)
    throw new UserError('connection_unknown', `ktx.yaml has no connection ${unknown}.`, {
      hint: didYouMean(unknown, configured) ?? oneOf(configured),
      exitCode: 2,
      details: { choices: configured },
    });
  const warehouses = [...names]
    .filter((name) => !isSource(name))
    .map((name) => project.connection(name));
  return { names, warehouses, isSource };
}

function noWarehouseForSources(): UserError {
  return new UserError(
    'no_connection',
    'ktx.yaml has sources, but no warehouse that they describe.',
    {
      hint: addWarehouseHint,
      exitCode: 2,
    },
  );
}

/** The configured sources, the notes if there are any, and the removed sources to forget. */
async function sourceInputs(
  project: Project,
  { forget = [], pins }: IngestRequest,
  { names, secrets, unapproved }: RequestedConnections & ApprovedConnections,
): Promise<readonly SourceInput[]> {
  const configured = listSources(project.config).map(([name, config]): SourceInput => ({
    name,
    open: async () => {
      const source = await openSource(config);
      return unapproved.has(name) ? withoutApproval(source, project, name) : source;
    },
    secrets,
    isAsked: names.has(name),
  }));
  const notes = (await hasNotes(project.dir))
    ? [{ name: notesName, open: openNotes, secrets, isAsked: pins === undefined }]
    : [];
  const removed =
    forget.length === 0 ? [] : chooseSourcesToForget(forget, await listRemovedSources(project));
  return [...configured, ...notes, ...removed.map((source) => ({ ...source, secrets }))];
}

/** A source whose fetch fails with `trust_required`; what it gave before stays. */
function withoutApproval(source: OpenSource, { trust }: Project, name: string): OpenSource {
  return {
    ...source,
    async *fetch(context) {
      await trust.requireConnections([name]);
      yield* source.fetch(context);
    },
  };
}

/** True for an empty folder too: git may still have a note that was forgotten. */
async function hasNotes(dir: string): Promise<boolean> {
  const folder = await listConfinedFolder(join(dir, itemPath(notesName, '')), dir);
  return folder !== undefined || (await readStoredNotes(dir)).length > 0;
}

/** What a dry run needs to estimate model costs. Calls no model and writes nothing. */
async function dryRunEstimate({ dir, config, journal }: Project) {
  const { llm, ingest: ingestConfig } = config;
  if (llm.provider.backend === 'none') return undefined;
  const { costEstimate } = await import('../../llm/governor/money/prices.ts');
  const existing = existsSync(projectPaths(dir).journalDb) ? journal() : undefined;
  const priced = costEstimate(llm, existing?.db);
  return { journal: existing, stepBudget: ingestConfig.steps_per_unit, priced };
}
