import { z } from 'zod';
import type { CurationSession } from '../../ingest/decide/curate/curation-session.ts';
import { untrustedBlock } from '../../lib/untrusted.ts';
import { loopTool } from '../loop-tool.ts';

const candidate = z.string().describe('As list_candidates has it, like term:net_revenue.');
interface Context {
  readonly session: CurationSession;
}

/** Where new terms and rules belong. */
export const curateTools = [
  loopTool({
    name: 'list_candidates',
    description:
      'Lists the candidates that are not decided yet, what resembles them, and the pages of the wiki.',
    inputSchema: z.object({}),
    run(_, { session }: Context) {
      const { candidates, pages } = session.list();
      if (candidates.length === 0) return 'Every candidate is decided. You are done.';
      return `${candidates.length} to decide.\n${untrustedBlock('candidates', JSON.stringify({ candidates, pages }, null, 1))}`;
    },
  }),
  loopTool({
    name: 'place_on_page',
    description:
      'Puts a candidate on a page of the wiki: one that there is, or a new one where several belong together.',
    inputSchema: z.object({
      candidate,
      page: z.string().describe('Its name: lower case letters, digits, _ and -, like glossary.'),
    }),
    run: ({ candidate: name, page }, { session }: Context) => session.place(name, page),
  }),
  loopTool({
    name: 'merge_candidates',
    description:
      'Says that a candidate is another name of a term or rule: it becomes a synonym there, with all its evidence.',
    inputSchema: z.object({
      candidate,
      into: z.string().describe('The subject whose name stays.'),
    }),
    run: ({ candidate: name, into }, { session }: Context) => session.merge(name, into),
  }),
  loopTool({
    name: 'reject_candidate',
    description:
      'Leaves out a candidate that is no term and no rule of this business; it is kept with the reason, and not shown.',
    inputSchema: z.object({ candidate, why: z.string().min(1).describe('One short sentence.') }),
    run: ({ candidate: name, why }, { session }: Context) => session.reject(name, why),
  }),
] as const;
