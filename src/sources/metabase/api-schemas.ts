import { z } from 'zod';
import { entriesOf } from '../http/known-entries.ts';

/** What ktx reads of the answers of Metabase. Everything else in them is dropped. */

const textOrNull = z.string().nullish();

export const userSchema = z.object({ id: z.number(), common_name: textOrNull });

const databaseEntrySchema = z.object({
  id: z.number(),
  name: z.string(),
  engine: z.string(),
  /** Where it is. Metabase shows it to administrators; never kept. */
  details: z
    .object({
      host: textOrNull,
      port: z.union([z.number(), z.string()]).nullish().catch(undefined),
      dbname: textOrNull,
      db: textOrNull,
    })
    .nullish()
    .catch(undefined),
});
/** Newer versions wrap the list. */
export const databasesSchema = z.union([
  entriesOf(databaseEntrySchema),
  z.object({ data: entriesOf(databaseEntrySchema) }).transform(({ data }) => data),
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
export const databaseMetadataSchema = z.object({ tables: entriesOf(tableSchema) });
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
  /** Like `trash`. */
  type: textOrNull,
});
export type MetabaseCollection = z.infer<typeof collectionSchema>;
export const collectionsSchema = entriesOf(collectionSchema);

export const collectionItemsSchema = z.object({
  data: entriesOf(z.object({ id: z.number(), model: textOrNull })),
  total: z.number(),
});

/** Of a server, for everyone who asks. */
export const settingsSchema = z.object({ 'start-of-week': textOrNull });

const snippetSchema = z.object({
  id: z.number(),
  name: z.string(),
  content: z.string(),
  archived: z.boolean().nullish(),
  template_tags: z.record(z.string(), z.unknown()).nullish().catch(undefined),
});
export const snippetsSchema = entriesOf(snippetSchema);
export type MetabaseSnippet = z.infer<typeof snippetSchema>;

const segmentSchema = z.object({
  id: z.number(),
  name: z.string(),
  description: textOrNull,
  table_id: z.number(),
  archived: z.boolean().nullish(),
  definition: z.record(z.string(), z.unknown()),
});
export const segmentsSchema = entriesOf(segmentSchema);
export type MetabaseSegment = z.infer<typeof segmentSchema>;

const dashboardCardSchema = z.object({
  id: z.number(),
  card_id: z.number().nullish(),
  /** The dashboard that a question is saved in, instead of a collection. */
  card: z.object({ dashboard_id: z.number().nullish() }).nullish().catch(undefined),
  series: z
    .array(z.object({ id: z.number() }))
    .nullish()
    .catch(undefined),
  dashboard_tab_id: z.number().nullish(),
  visualization_settings: z.object({ text: textOrNull }).nullish().catch(undefined),
});
const dashboardCardsSchema = z.array(dashboardCardSchema).nullish();
export const dashboardSchema = z.object({
  id: z.number(),
  name: z.string(),
  description: textOrNull,
  archived: z.boolean().nullish(),
  tabs: z
    .array(z.object({ id: z.number(), name: z.string() }))
    .nullish()
    .catch(undefined),
  dashcards: dashboardCardsSchema,
  /** Before version 47. */
  ordered_cards: dashboardCardsSchema,
});
export type MetabaseDashboard = z.infer<typeof dashboardSchema>;

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
