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
  description:
    'Finds metrics, datasets, fields, segments, relationships by words, and tables that no dataset covers. Start here; the names work in the other tools.',
  effect: 'context',
  inputSchema,
  itemsName: 'hits',
  async run({ text, kinds, connection, limit }, { project }) {
    const all = Object.keys(project.config.connections);
    const connections = connection === undefined ? all : [project.warehouseName(connection)];
    const state = openState(project.dir);
    const hits = await refreshIndex(project, state)
      .then(() => search(state, text, { kinds, connections, limit }))
      .finally(() => state.close());
    const files = [...new Set(hits.flatMap(({ file }) => file ?? []))].toSorted();
    return {
      summary: hits.length === 0 ? 'Nothing found; try other words.' : `${hits.length} hits, best first.`,
      trust: {
        status: files.length > 0 ? 'curated' : 'ad_hoc',
        ...(await commitState(project.dir, files)),
      },
      items: hits.map(({ kind, parent, name, subject, connection: from, description, detail, synonyms, file, score }) => ({
        kind,
        name: kind === 'dataset' || kind === 'table' ? parent : [parent, name].filter((part) => part !== '').join('.'),
        description, detail, synonyms, connection: from, subject, file, score,
        trust: file === undefined ? 'ad_hoc' : 'curated',
      })), // prettier-ignore
    };
  },
};
