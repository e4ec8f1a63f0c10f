import { z } from 'zod';
import type { CurationSession } from '../../ingest/decide/curate/curation-session.ts';
import { untrustedBlock } from '../../lib/untrusted.ts';
import { defineLoopTool } from '../loop-tool.ts';

const candidate = z.string().describe('Name from list_candidates, like term:net_revenue.');
interface CurateContext {
  readonly session: CurationSession;
}

/** Decide on which wiki page new terms and rules belong. */
export const curateTools = [
  defineLoopTool({
    name: 'list_candidates',
    description:
      'Lists the candidates that are not decided yet, with similar names, and the pages of the wiki.',
    inputSchema: z.object({}),
    carries: 'nothing',
    run(_, { session }: CurateContext) {
      const { candidates, pages } = session.list();
      if (candidates.length === 0) return 'Every candidate is decided. You are done.';
      return `${candidates.length} to decide.\n${untrustedBlock('candidates', JSON.stringify({ candidates, pages }, null, 1))}`;
    },
  }),
  defineLoopTool({
    name: 'place_on_page',
    description:
      'Puts a candidate on a wiki page: an existing one, or a new one if several belong together.',
    inputSchema: z.object({
      candidate,
      page: z
        .string()
        .describe('Name of the page: lower case letters, digits, _ and -, like glossary.'),
    }),
    carries: 'nothing',
    run: ({ candidate: name, page }, { session }: CurateContext) => session.place(name, page),
  }),
  defineLoopTool({
    name: 'merge_candidates',
    description:
      'Marks a candidate as another name of a term or rule: it becomes a synonym there, with all its evidence.',
    inputSchema: z.object({
      candidate,
      into: z.string().describe('The subject that keeps its name.'),
    }),
    carries: 'nothing',
    run: ({ candidate: name, into }, { session }: CurateContext) => session.merge(name, into),
  }),
  defineLoopTool({
    name: 'reject_candidate',
    description:
      'Rejects a candidate that is not a term or rule of this business. It is stored with the reason and not shown.',
    inputSchema: z.object({ candidate, why: z.string().min(1).describe('One short sentence.') }),
    carries: 'nothing',
    run: ({ candidate: name, why }, { session }: CurateContext) => session.reject(name, why),
  }),
] as const;
