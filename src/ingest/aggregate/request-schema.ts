import { z } from 'zod';

const column = z.string().describe('A field of the dataset that is a column of its table.');
const cell = z.union([z.string(), z.number(), z.boolean(), z.null()]);

/**
 * What a model may ask of the rows of a table. There is no SQL in it, and no value of it gets into
 * SQL: `where` selects among the groups that the answer is made of.
 */
export const aggregateRequestSchema = z.object({
  dataset: z.string().describe('Name of a dataset, like orders. Its rows are always counted.'),
  missing: z.array(column).max(6).default([]).describe('Count the rows without a value.'),
  distinct: z.array(column).max(6).default([]).describe('Count the different values.'),
  sum: z.array(column).max(4).default([]).describe('Add up numbers.'),
  average: z.array(column).max(4).default([]).describe('Average numbers.'),
  by: z.array(column).max(2).default([]).describe('Group by fields with few values.'),
  where: z
    .array(
      z.object({
        field: column,
        values: z.array(cell).min(1).max(50).describe('Values of the field; null for none.'),
        exclude: z.boolean().default(false).describe('True for the rows without these values.'),
      }),
    )
    .max(2)
    .default([]),
});
export type AggregateRequest = z.infer<typeof aggregateRequestSchema>;
