import { z } from 'zod';
import { datasetSchema } from '../../semantic/model/dataset.ts';

const line = (longest: number) => z.string().min(1).max(longest);

const place = {
  item: z.string().describe('Path of the item that says it.'),
  quote: z
    .string()
    .max(2000)
    .describe('The words of the item that say it, copied exactly; one sentence or less.'),
};
const dataset = z.string().describe('Name of a dataset, like orders.');
const description = line(1000)
  .optional()
  .describe('What it means, in plain words; at most 1000 characters.');
const synonyms = z
  .array(line(80))
  .max(20)
  .optional()
  .describe('Other words that the item uses for it.');
const refs = z
  .array(z.string())
  .max(20)
  .optional()
  .describe('Datasets, fields or metrics that it is about, like orders or orders.amount.');
const name = z.string().describe('Letters, digits and _ only, like net_revenue.');

const definition = datasetSchema.shape.metrics.unwrap().element.shape;
const sql = z.string().min(1).max(4000);

/** What a model can propose; each proposal quotes the item that says so. */
export const termSchema = z.object({
  ...place,
  title: line(120).describe('As people write it, like Net revenue.'),
  definition: line(1500).describe('What it means, complete in itself.'),
  synonyms,
  refs,
});
export const ruleSchema = z.object({
  ...place,
  title: line(120).describe('A short name of the rule.'),
  rule: line(1500).describe('What holds, complete in itself.'),
  refs,
});
export const datasetProposalSchema = z.object({
  ...place,
  dataset,
  description,
  synonyms,
  tags: z.array(line(60)).max(10).optional(),
  primary_key: z
    .array(z.string())
    .min(1)
    .max(10)
    .optional()
    .describe('Fields that identify a row, where the item says so.'),
  default_time: z.string().optional().describe('The field that says when, where the item says so.'),
});
export const fieldSchema = z.object({
  ...place,
  dataset,
  field: z.string().describe('Name of a field; a new name only together with expr.'),
  description,
  synonyms,
  values: z
    .array(z.string().max(200))
    .min(1)
    .max(200)
    .optional()
    .describe('All values that it can have, where the item lists them.'),
  expr: sql.optional().describe('SQL over one row, for a field that is no column.'),
});
export const metricSchema = z.object({
  ...place,
  dataset: dataset.describe('The dataset whose rows are aggregated.'),
  name,
  agg: definition.agg,
  of: sql.optional().describe('SQL over one row that is aggregated; only a count can do without.'),
  fraction: definition.fraction,
  expr: sql
    .optional()
    .describe(
      'Aggregates written out, like sum(amount) - sum(refund), or arithmetic over other metrics by name.',
    ),
  where: sql.optional().describe('SQL condition on the rows that count.'),
  ratio: definition.ratio,
  cumulative: definition.cumulative,
  offset: definition.offset,
  semi_additive: definition.semi_additive,
  unit: line(40).optional().describe('Like EUR.'),
  description,
  synonyms,
});
export const relationshipSchema = z.object({
  ...place,
  dataset: dataset.describe('The dataset of the many.'),
  to: z.string().describe('The dataset of the one.'),
  on: z
    .array(z.object({ field: z.string(), to_field: z.string() }))
    .min(1)
    .max(8),
  role: name.optional().describe('Where several joins lead to the same dataset.'),
});

const reasons = [
  'no_such_table',
  'no_such_field',
  'not_computable',
  'ambiguous',
  'nothing_to_claim',
] as const;
export const unmappedSchema = z.object({
  item: place.item,
  reason: z.enum(reasons),
  what: line(300).describe('What could not be claimed.'),
  name: z
    .string()
    .optional()
    .describe(
      'The table, or dataset.field, that is missing; required for no_such_table and no_such_field.',
    ),
});

export type Proposal<Schema extends z.ZodType> = z.infer<Schema>;
