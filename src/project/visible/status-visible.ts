import type { Project } from '../open/open.ts';
import { readProjectStatus } from '../review/status.ts';
import { loadVisibleQueue } from './review-visible.ts';

/**
 * The status as callers of a server may see it: what is connected and what waits, without the
 * folder, the model, the login of a connection and the state of git.
 */
export async function readVisibleStatus(project: Project, signal: AbortSignal) {
  const [{ connections, sources }, attention] = await Promise.all([
    readProjectStatus(project, 'fast', signal),
    loadVisibleQueue(project),
  ]);
  return {
    connections: connections.map((own) => ({
      connection: own.connection,
      driver: own.driver,
      approved: own.approved,
      ingested: own.ingested,
      datasets: own.datasets,
      metrics: own.metrics,
      relationships: own.relationships,
      // What is wrong in a file may name what is hidden.
      invalid: own.invalid.map(() => 'ktx sl validate says what'),
    })),
    sources: sources.map(({ connection, driver, approved, ingested, items }) => {
      return { connection, driver, approved, ingested, items };
    }),
    attention,
  };
}
