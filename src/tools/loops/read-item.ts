import { z } from 'zod';
import type { ProposalsSession } from '../../ingest/extract/proposals/proposals-session.ts';
import { untrustedBlock } from '../../lib/untrusted.ts';
import { type LoopTool, defineLoopTool } from '../loop-tool.ts';

const path = z.string().describe('Path of an item, from list_unit.');
const maxCharacters = 20_000;

/** Read the items of a work unit. */
export const unitTools: readonly LoopTool<ProposalsSession>[] = [
  defineLoopTool({
    name: 'list_unit',
    description: 'Lists the items of this work unit, and the places in them to read.',
    inputSchema: z.object({}),
    carries: 'nothing',
    run: (_, { session }) => untrustedBlock('items', JSON.stringify(session.list(), null, 1)),
  }),
  defineLoopTool({
    name: 'read_item',
    description: 'Reads the text of one item of this work unit.',
    inputSchema: z.object({ path }),
    carries: 'nothing',
    run: ({ path: itemPath }, { session }) => excerpt(itemPath, session.text(itemPath), 1),
  }),
  defineLoopTool({
    name: 'read_item_span',
    description: 'Reads some lines of one item of this work unit.',
    inputSchema: z.object({
      path,
      from_line: z.int().min(1),
      to_line: z.int().min(1).describe('Inclusive.'),
    }),
    carries: 'nothing',
    run({ path: itemPath, from_line: from, to_line: to }, { session }) {
      const lines = session
        .text(itemPath)
        .split('\n')
        .slice(from - 1, to);
      return excerpt(itemPath, lines.join('\n'), from);
    },
  }),
];

function excerpt(itemPath: string, text: string, firstLine: number): string {
  if (text.length <= maxCharacters) return untrustedBlock(itemPath, text);
  const shown = text.slice(0, maxCharacters);
  return `${untrustedBlock(itemPath, shown)}\nTruncated: continue with read_item_span from line ${firstLine + shown.split('\n').length - 1}.`;
}
