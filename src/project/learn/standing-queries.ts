import type { StandingQuery } from '../../ingest/render/standing-queries.ts';
import type { Project } from '../open/open.ts';
import { readSavedQueries } from '../saved/saved-queries.ts';
import { readAllVerified } from '../verified/verified-file.ts';

/** The saved queries, and the queries that have passed an eval case. */
export async function listStandingQueries(project: Project): Promise<readonly StandingQuery[]> {
  const { queries } = await readSavedQueries(project, project.warehouses);
  const verified = await readAllVerified(project.dir);
  return [
    ...queries.map(({ connection, name, query }) => ({
      connection,
      name: `saved query ${name}`,
      query,
    })),
    ...verified.flatMap(({ connection, id, answer }) =>
      answer.kind === 'query' ? [{ connection, name: `eval case ${id}`, query: answer.query }] : [],
    ),
  ];
}
