import { z } from 'zod';
import { commitState } from '../project/commit.ts';
import { documentKinds } from '../search/documents.ts';
import { search } from '../search/search.ts';
import { openState } from '../store/state.ts';
import { refreshIndex } from './refresh-index.ts';
import type { ToolDefinition } from './tool.ts';

const inputSchema = z.strictObject({
  text: z.string().describe('Words; typos are fine.'),
  kinds: z.array(z.enum(documentKinds)).optional(),
  connection: z.string().optional(),
  limit: z.int().min(1).max(200).default(20),
});

export const searchContext: ToolDefinition<typeof inputSchema> = {
  name: 'search_context',
  description: 'Finds metrics, datasets, fields, relationships and bare tables. Start here; its names work in the other tools.',
  effect: 'context',
  inputSchema,
  itemsName: 'hits',
  async run({ text, kinds, connection, limit }, { project }) {
    const connections = connection === undefined ? Object.keys(project.config.connections) : [project.connection(connection).name];
    const state = openState(project.dir);
    const hits = await refreshIndex(project, state)
      .then(() => search(state, text, { kinds, connections, limit }))
      .finally(() => state.close());
    const files = [...new Set(hits.flatMap(({ file }) => file ?? []))].sort();
    return {
      summary: hits.length === 0 ? 'Nothing found; try other words.' : `${hits.length} hits, best first.`,
      trust: { status: files.length > 0 ? 'curated' : 'ad_hoc', ...(await commitState(project.dir, files)) },
      items: hits.map((hit) => ({
        ...hit,
        name: ['dataset', 'table'].includes(hit.kind) ? hit.parent : `${hit.parent}.${hit.name}`.replace(/^\./, ''),
        trust: hit.file === undefined ? 'ad_hoc' : 'curated',
        context: undefined,
      })),
    };
  },
};
