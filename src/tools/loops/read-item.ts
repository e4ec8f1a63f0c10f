import { z } from 'zod';
import type { ExtractDesk } from '../../ingest/extract/desk.ts';
import { untrustedBlock } from '../../lib/untrusted.ts';
import { loopTool } from '../loop-tool.ts';

const path = z.string().describe('As list_unit has it.');

/** What the unit holds, and its texts. */
export const readItem = [
  loopTool({
    name: 'list_unit',
    description: 'Lists the items of this work unit and the places in them that are to be read.',
    inputSchema: z.object({}),
    run: (_, { desk }: { readonly desk: ExtractDesk }) => untrustedBlock('items', JSON.stringify(desk.list(), null, 1)),
  }),
  loopTool({
    name: 'read_item',
    description: 'The text of one item of this work unit.',
    inputSchema: z.object({ path }),
    run: ({ path: at }, { desk }: { readonly desk: ExtractDesk }) => untrustedBlock(at, desk.text(at)),
  }),
] as const;
