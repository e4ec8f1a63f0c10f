import { z } from 'zod';
import { formatCount } from '../lib/format-count.ts';
import type { ToolDefinition } from './tool.ts';

const inputSchema = z.strictObject({ text: z.string() });

/** Few enough that the answer is never cut. */
const maxHits = 20;

export const noValuesText =
  'No column with few distinct values contains it. It may be in a column with many values, or be personal and not stored.';

export const findValuesTool: ToolDefinition<typeof inputSchema> = {
  name: 'find_values',
  description: 'Finds the fields that contain a value, and its spelling.',
  effect: 'context',
  inputSchema,
  itemsName: 'hits',
  isShort: true,
  async run({ text }, { project }) {
    const { findValues } = await import('../project/answer/values.ts');
    const found = await findValues(project, text);
    const hits = found.slice(0, maxHits);
    return {
      summary:
        hits.length === 0 ? noValuesText : `${formatCount(hits.length, 'value')}, best first.`,
      trust: { status: 'ad_hoc' },
      items: hits,
      values: (items) =>
        items.flatMap((item) =>
          hits
            .filter((hit) => hit === item)
            .map((hit) => ({
              connection: hit.connection,
              source: hit.dataset,
              column: hit.field,
              kind: 'match' as const,
              count: 1,
            })),
        ),
    };
  },
};
