import { z } from 'zod';
import type { ProposalsSession } from '../../ingest/extract/proposals-session.ts';
import { untrustedBlock } from '../../lib/untrusted.ts';
import { type LoopTool, loopTool } from '../loop-tool.ts';

const path = z.string().describe('Path of an item, as list_unit has it.');
const longest = 20_000;

/** What a work unit holds, and its texts. */
export const unitTools: readonly LoopTool<ProposalsSession>[] = [
  loopTool({
    name: 'list_unit',
    description: 'Lists the items of this work unit and the places in them that are to be read.',
    inputSchema: z.object({}),
    run: (_, { session }) => untrustedBlock('items', JSON.stringify(session.list(), null, 1)),
  }),
  loopTool({
    name: 'read_item',
    description: 'The text of one item of this work unit.',
    inputSchema: z.object({ path }),
    run: ({ path: at }, { session }) => excerpt(at, session.text(at), 1),
  }),
  loopTool({
    name: 'read_item_span',
    description: 'Some lines of one item of this work unit.',
    inputSchema: z.object({
      path,
      from_line: z.int().min(1),
      to_line: z.int().min(1).describe('Itself included.'),
    }),
    run({ path: at, from_line: from, to_line: to }, { session }) {
      const lines = session
        .text(at)
        .split('\n')
        .slice(from - 1, to);
      return excerpt(at, lines.join('\n'), from);
    },
  }),
];

function excerpt(at: string, text: string, from: number): string {
  if (text.length <= longest) return untrustedBlock(at, text);
  const shown = text.slice(0, longest);
  return `${untrustedBlock(at, shown)}\nCut: read_item_span goes on from line ${from + shown.split('\n').length - 1}.`;
}
