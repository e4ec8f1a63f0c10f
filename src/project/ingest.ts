import type { IngestReport } from '../ingest/event.ts';
import { ingest, type IngestInput } from '../ingest/ingest.ts';
import { openState, type State } from '../store/state.ts';
import { scopeOf } from './config.ts';
import type { Project } from './project.ts';

interface Asked extends Pick<IngestInput, 'dryRun' | 'waitMs' | 'signal' | 'onEvent'> {
  /** All of them where it is empty. */
  readonly connections: readonly string[];
  /** Called after publishing, with the database of the search index. */
  readonly updateIndex?: (state: State) => Promise<void>;
}

/** Brings the named connections of the project up to date. */
export async function ingestProject(project: Project, { connections, updateIndex, ...run }: Asked): Promise<IngestReport> {
  const names = connections.length > 0 ? connections.map((name) => project.warehouseName(name)) : Object.keys(project.config.connections);
  if (names.length === 0) project.warehouseName();
  const scopes = Object.entries(project.config.connections).filter(([name]) => names.includes(name));
  return ingest({
    ...run,
    dir: project.dir,
    runId: project.runId,
    connections: scopes.map(([name, config]) => ({ name, scope: scopeOf(config) })),
    scan: project.config.scan,
    warehouse: (name, signal) => project.warehouse(name, signal),
    async updateIndex() {
      const state = openState(project.dir);
      await updateIndex?.(state).finally(() => state.close());
    },
  });
}
