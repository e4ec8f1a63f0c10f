import { z } from 'zod';
import { parseYaml } from '../../../lib/yaml/parse-yaml.ts';

const fieldSchema = z.string().regex(/^[\w-]+\.[\w-]+$/, 'a field is dataset.field');

const goldSchema = z.strictObject({
  connection: z.string().min(1).optional(),
  questions: z
    .array(
      z.strictObject({
        question: z.string().trim().min(1),
        columns: z.array(fieldSchema).min(1),
        joins: z.array(z.strictObject({ from: fieldSchema, to: fieldSchema })).default([]),
        values: z
          .array(z.strictObject({ text: z.string().min(1), field: fieldSchema }))
          .default([]),
      }),
    )
    .min(1)
    .max(10_000),
});

/** Questions with the fields, joins and values that they need, written by people. */
export type GoldSet = z.infer<typeof goldSchema>;
export type GoldQuestion = GoldSet['questions'][number];

/** Throws `gold_invalid` with the place of each problem. */
export function parseGoldSet(file: string, text: string): Promise<GoldSet> {
  const hint =
    'questions: [{question, columns: [dataset.field], joins: [{from, to}], values: [{text, field}]}]';
  return parseYaml(goldSchema, { file, text, code: 'gold_invalid', hint });
}
