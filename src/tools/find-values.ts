import { z } from 'zod';
import { formatCount } from '../lib/format-count.ts';
import { findValues } from '../project/answer/values.ts';
import type { ToolDefinition } from './tool.ts';

const inputSchema = z.strictObject({ text: z.string() });

/** Short enough never to be cut. */
const shown = 20;

export const findValuesTool: ToolDefinition<typeof inputSchema> = {
  name: 'find_values',
  description: 'Fields that hold a value, as spelled.',
  effect: 'context',
  inputSchema,
  itemsName: 'hits',
  isShort: true,
  async run({ text }, { project }) {
    const found = await findValues(project, text);
    const hits = found.slice(0, shown);
    const none =
      'No column of few values has it; it may stand in one of many, or be personal and not kept.';
    return {
      summary: hits.length === 0 ? none : `${formatCount(hits.length, 'value')}, best first.`,
      trust: { status: 'ad_hoc' },
      items: hits,
    };
  },
};
