import type { IngestReport } from '../ingest/event.ts';
import { ingest, type IngestInput } from '../ingest/ingest.ts';
import type { ScanModel } from '../scan/descriptions.ts';
import type { Project } from './open.ts';
import { refreshIndex } from './search.ts';

interface Asked extends Pick<IngestInput, 'dryRun' | 'signal' | 'onEvent'> {
  /** All of them where it is empty. */
  readonly connections: readonly string[];
  /** False: as if no model were configured. */
  readonly llm?: boolean;
}

/** Brings the named connections of the project up to date. */
export async function ingestProject(project: Project, { connections, llm = true, ...run }: Asked): Promise<IngestReport> {
  const asked = connections.length > 0 ? connections : Object.keys(project.config.connections);
  const named = asked.length > 0 ? [...new Set(asked)].map((name) => project.connection(name)) : [project.connection()];
  return ingest({
    ...run,
    model: llm && run.dryRun !== true ? await scanModel(project, run.signal) : undefined,
    dir: project.dir,
    runId: project.runId,
    connections: named,
    scan: project.config.scan,
    updateIndex: (state) => refreshIndex(project, state),
    warehouse: (name, signal) => project.warehouse(name, signal),
  });
}

/** Undefined where no model is configured. One that cannot be used fails here, before any work. */
async function scanModel(project: Project, signal: AbortSignal): Promise<ScanModel | undefined> {
  const runtime = await project.llm();
  if (runtime === undefined) return undefined;
  await runtime.account(signal);
  return { runtime, concurrency: runtime.concurrency, journal: project.journal(), samples: project.config.scan.send_samples };
}
