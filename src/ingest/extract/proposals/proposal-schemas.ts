import { z } from 'zod';
import { datasetSchema } from '../../../semantic/model/dataset.ts';

const textUpTo = (longest: number) => z.string().min(1).max(longest);

const quotedItem = {
  item: z.string().describe('Path of the item that says it.'),
  quote: z
    .string()
    .max(2000)
    .describe('The words of the item that say it, copied exactly; one sentence or less.'),
};
const datasetName = z.string().describe('Name of a dataset, like orders.');
const optionalDescription = textUpTo(1000)
  .optional()
  .describe('What it means, in plain words; at most 1000 characters.');
const optionalSynonyms = z
  .array(textUpTo(80))
  .max(20)
  .optional()
  .describe('Other words that the item uses for it.');
const optionalRefs = z
  .array(z.string())
  .max(20)
  .optional()
  .describe('Datasets, fields or metrics that it is about, like orders or orders.amount.');
const newName = z.string().describe('Letters, digits and _ only, like net_revenue.');

const metricShape = datasetSchema.shape.metrics.unwrap().element.shape;
const sqlText = z.string().min(1).max(4000);

/** The proposals of a model. Each quotes the item that says so. */
export const proposedTermSchema = z.object({
  ...quotedItem,
  title: textUpTo(120).describe('As people write it, like Net revenue.'),
  definition: textUpTo(1500).describe('What it means, complete in itself.'),
  synonyms: optionalSynonyms,
  refs: optionalRefs,
});
export const proposedRuleSchema = z.object({
  ...quotedItem,
  title: textUpTo(120).describe('A short name of the rule.'),
  rule: textUpTo(1500).describe('What holds, complete in itself.'),
  refs: optionalRefs,
});
export const proposedDatasetSchema = z.object({
  ...quotedItem,
  dataset: datasetName,
  description: optionalDescription,
  synonyms: optionalSynonyms,
  tags: z.array(textUpTo(60)).max(10).optional(),
  primary_key: z
    .array(z.string())
    .min(1)
    .max(10)
    .optional()
    .describe('Fields that identify a row, where the item says so.'),
  default_time: z.string().optional().describe('The field that says when, where the item says so.'),
});
export const proposedFieldSchema = z.object({
  ...quotedItem,
  dataset: datasetName,
  field: z.string().describe('Name of a field; a new name only together with expr.'),
  description: optionalDescription,
  synonyms: optionalSynonyms,
  values: z
    .array(z.string().max(200))
    .min(1)
    .max(200)
    .optional()
    .describe('All values that it can have, where the item lists them.'),
  expr: sqlText.optional().describe('SQL over one row, for a field that is no column.'),
});
export const proposedMetricSchema = z.object({
  ...quotedItem,
  dataset: datasetName.describe('The dataset whose rows are aggregated.'),
  name: newName,
  agg: metricShape.agg,
  of: sqlText
    .optional()
    .describe('SQL over one row that is aggregated; only a count can do without.'),
  fraction: metricShape.fraction,
  expr: sqlText
    .optional()
    .describe(
      'Aggregates written out, like sum(amount) - sum(refund), or arithmetic over other metrics by name.',
    ),
  where: sqlText.optional().describe('SQL condition on the rows that count.'),
  ratio: metricShape.ratio,
  cumulative: metricShape.cumulative,
  offset: metricShape.offset,
  semi_additive: metricShape.semi_additive,
  unit: textUpTo(40).optional().describe('Like EUR.'),
  description: optionalDescription,
  synonyms: optionalSynonyms,
});
export const proposedRelationshipSchema = z.object({
  ...quotedItem,
  dataset: datasetName.describe('The dataset of the many.'),
  to: z.string().describe('The dataset of the one.'),
  on: z
    .array(z.object({ field: z.string(), to_field: z.string() }))
    .min(1)
    .max(8),
  role: newName.optional().describe('Where several joins lead to the same dataset.'),
});

const unmappedReasons = [
  'no_such_table',
  'no_such_field',
  'not_computable',
  'ambiguous',
  'nothing_to_claim',
] as const;
export const reportedUnmappedSchema = z.object({
  item: quotedItem.item,
  reason: z.enum(unmappedReasons),
  what: textUpTo(300).describe('What could not be claimed.'),
  name: z
    .string()
    .optional()
    .describe(
      'The table, or dataset.field, that is missing; required for no_such_table and no_such_field.',
    ),
});

export type ProposalOf<Schema extends z.ZodType> = z.infer<Schema>;
