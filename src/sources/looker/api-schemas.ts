import { z } from 'zod';
import { entriesOf } from '../http/known-entries.ts';

/** What ktx reads of the answers of Looker's API 4.0. Everything else in them is dropped. */

const text = z.string().nullish();
const flag = z.boolean().nullish();
/** Ids were numbers once. */
const numberOrText = z.union([z.string(), z.number()]).transform(String);

export const tokenSchema = z.object({ access_token: z.string().min(1) });
export const userSchema = z.object({ display_name: text, id: numberOrText });
export const versionsSchema = z.object({
  looker_release_version: text,
  supported_versions: z.array(z.object({ version: text })).nullish(),
});

export const modelsSchema = entriesOf(
  z.object({
    name: z.string(),
    explores: z.array(z.object({ name: z.string(), hidden: flag })).nullish(),
  }),
);

const fieldSchema = z.object({
  name: z.string(),
  type: text,
  label_short: text,
  description: text,
  sql: text,
  hidden: flag,
  primary_key: flag,
  view: text,
  original_view: text,
  scope: text,
  dimension_group: text,
  value_format_name: text,
  filters: z.array(z.object({ field: text, condition: text })).nullish(),
  error: text,
});
export type LookerField = z.infer<typeof fieldSchema>;

const joinSchema = z.object({
  name: z.string(),
  from: text,
  type: text,
  relationship: text,
  sql_on: text,
  foreign_key: text,
  sql_table_name: text,
});
export type LookerJoin = z.infer<typeof joinSchema>;

const defaultFilterSchema = z.array(z.object({ name: text, value: text })).nullish();

export const exploreSchema = z.object({
  name: z.string(),
  view_name: text,
  description: text,
  sql_table_name: text,
  connection_name: text,
  access_filters: z.array(z.object({ field: text, user_attribute: text })).nullish(),
  always_filter: defaultFilterSchema,
  conditionally_filter: defaultFilterSchema,
  always_join: z.array(z.string()).nullish(),
  joins: z.array(joinSchema).nullish(),
  fields: z
    .object({
      dimensions: z.array(fieldSchema).nullish(),
      measures: z.array(fieldSchema).nullish(),
    })
    .nullish(),
});
export type LookerExplore = z.infer<typeof exploreSchema>;

const folderSchema = z.object({
  id: numberOrText,
  name: z.string(),
  parent_id: numberOrText.nullish(),
  is_personal: flag,
  is_personal_descendant: flag,
  is_users_root: flag,
});
export const foldersSchema = entriesOf(folderSchema);
export type LookerFolder = z.infer<typeof folderSchema>;

const querySchema = z.object({
  model: z.string(),
  view: z.string(),
  fields: z.array(z.string()).nullish(),
  pivots: z.array(z.string()).nullish(),
  filters: z.record(z.string(), z.string().nullable()).nullish(),
  filter_expression: text,
  sorts: z.array(z.string()).nullish(),
  limit: numberOrText.nullish(),
  dynamic_fields: text,
});
export type LookerQuery = z.infer<typeof querySchema>;

const certificationSchema = z.object({ certification_status: text }).nullish();
const contentShape = {
  id: numberOrText,
  title: text,
  description: text,
  certification_metadata: certificationSchema,
};
/** An entry of a search: its folder decides whether it is read. */
const foundEntrySchema = z.object({
  id: numberOrText,
  deleted: flag,
  folder: z.object({ id: numberOrText.nullish() }).nullish(),
  title: text,
  description: text,
  certification_metadata: certificationSchema,
  /** Of a look. Looker makes another query for each change. */
  query_id: numberOrText.nullish().catch(undefined),
});
export const foundSchema = entriesOf(foundEntrySchema);
export type FoundContent = z.infer<typeof foundEntrySchema>;
export const lookSchema = z.object({ ...contentShape, query: querySchema.nullish() });
export type LookerLook = z.infer<typeof lookSchema>;

export const dashboardSchema = z.object({
  ...contentShape,
  dashboard_elements: z
    .array(
      z.object({
        id: numberOrText,
        title: text,
        type: text,
        body_text: text,
        query: querySchema.nullish(),
        look: z.object({ query: querySchema.nullish() }).nullish(),
        result_maker: z.object({ query: querySchema.nullish() }).nullish(),
      }),
    )
    .nullish(),
});
export type LookerDashboard = z.infer<typeof dashboardSchema>;

/** Rows of a query over System Activity, by the names of its fields. */
export const activitySchema = z.array(
  z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]).nullable()),
);
