import { z } from 'zod';

/** What ktx reads of the answers of Metabase. Everything else in them is dropped. */

const textOrNull = z.string().nullish();

export const userSchema = z.object({ id: z.number(), common_name: textOrNull });

const databaseEntrySchema = z.object({
  id: z.number(),
  name: z.string(),
  engine: z.string(),
});
/** Newer versions wrap the list. */
export const databasesSchema = z.union([
  z.array(databaseEntrySchema),
  z.object({ data: z.array(databaseEntrySchema) }).transform(({ data }) => data),
]);

const fieldSchema = z.object({
  id: z.number(),
  name: z.string(),
  display_name: textOrNull,
  description: textOrNull,
  semantic_type: textOrNull,
  /** Like `Coercion/UNIXSeconds->DateTime`. */
  coercion_strategy: textOrNull,
  fk_target_field_id: z.number().nullish().catch(undefined),
});
const tableSchema = z.object({
  id: z.number(),
  name: z.string(),
  schema: textOrNull,
  display_name: textOrNull,
  description: textOrNull,
  fields: z.array(fieldSchema).nullish(),
});
export const databaseMetadataSchema = z.object({ tables: z.array(tableSchema) });
export type MetabaseTable = z.infer<typeof tableSchema>;

const collectionSchema = z.object({
  id: z.union([z.number(), z.literal('root')]),
  name: z.string(),
  /** The numbers of the collections above: `/3/7/`. */
  location: textOrNull,
  archived: z.boolean().nullish(),
  is_personal: z.boolean().nullish(),
  personal_owner_id: z.number().nullish(),
  /** Set for collections of snippets. */
  namespace: textOrNull,
});
export type MetabaseCollection = z.infer<typeof collectionSchema>;
export const collectionsSchema = z.array(collectionSchema);

export const collectionItemsSchema = z.object({
  data: z.array(z.object({ id: z.number(), name: z.string() })),
  total: z.number(),
});

export const cardSchema = z.object({
  id: z.number(),
  name: z.string(),
  description: textOrNull,
  type: z.string().default('question'),
  archived: z.boolean().nullish(),
  database_id: z.number().nullish(),
  dataset_query: z.record(z.string(), z.unknown()),
  /** The columns of its answer, as far as Metabase has run it. */
  result_metadata: z
    .array(z.object({ name: z.string(), base_type: textOrNull, display_name: textOrNull }))
    .nullish()
    .catch(undefined),
  moderation_reviews: z
    .array(z.object({ status: textOrNull, most_recent: z.boolean().nullish() }))
    .nullish(),
});
export type MetabaseCard = z.infer<typeof cardSchema>;
