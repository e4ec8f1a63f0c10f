import { z } from 'zod';
import { entriesOf } from '../http/known-entries.ts';
import { notionId } from './notion-id.ts';

/** What ktx reads of the answers of Notion. Everything else in them is dropped. */

const idSchema = z.string().transform((text, context) => {
  const id = notionId(text);
  if (id !== undefined) return id;
  context.addIssue({ code: 'custom', message: 'is no id of Notion' });
  return z.NEVER;
});

const richTextSchema = z.array(
  z.object({
    type: z.string(),
    plain_text: z.string().default(''),
    annotations: z.object({ code: z.boolean().optional() }).optional(),
    mention: z
      .looseObject({
        type: z.string(),
        date: z.object({ start: z.string(), end: z.string().nullish() }).nullish(),
      })
      .optional(),
    equation: z.object({ expression: z.string() }).optional(),
  }),
);
export type RichText = z.infer<typeof richTextSchema>;

const parentSchema = z.object({
  type: z.string(),
  page_id: idSchema.optional(),
  database_id: idSchema.optional(),
  data_source_id: idSchema.optional(),
  block_id: idSchema.optional(),
});
export type NotionParent = z.infer<typeof parentSchema>;

const trashed = {
  in_trash: z.boolean().optional(),
  /** Before the version 2026-03-11. */
  archived: z.boolean().optional(),
};

/** A property of a page has its value, and one of a data source its settings, under its type. */
const propertySchema = z.looseObject({ type: z.string() });
export type NotionProperty = z.infer<typeof propertySchema>;

export const pageSchema = z.object({
  object: z.literal('page'),
  id: idSchema,
  last_edited_time: z.string(),
  parent: parentSchema,
  properties: z.record(z.string(), propertySchema).default({}),
  ...trashed,
});
export type NotionPage = z.infer<typeof pageSchema>;

export const dataSourceSchema = z.object({
  object: z.literal('data_source'),
  id: idSchema,
  title: richTextSchema.default([]),
  description: richTextSchema.default([]),
  parent: parentSchema,
  /** Of the database. */
  database_parent: parentSchema.optional(),
  properties: z.record(z.string(), propertySchema).default({}),
  ...trashed,
});
export type NotionDataSource = z.infer<typeof dataSourceSchema>;

export const databaseSchema = z.object({ data_sources: z.array(z.object({ id: idSchema })) });

const pageOfSchema = <Entry extends z.ZodType>(entry: Entry) =>
  z.object({ results: entriesOf(entry), next_cursor: z.string().nullish() });
export const searchSchema = pageOfSchema(z.union([pageSchema, dataSourceSchema]));
export const rowsSchema = pageOfSchema(pageSchema);

export const blockSchema = z.looseObject({
  id: idSchema,
  type: z.string(),
  has_children: z.boolean().default(false),
  parent: parentSchema.optional(),
  ...trashed,
});
export type NotionBlock = z.infer<typeof blockSchema>;
/** A page without some of its blocks is not that page. */
export const blocksSchema = z.object({
  results: z.array(blockSchema),
  next_cursor: z.string().nullish(),
});

export const botSchema = z.object({
  name: z.string().nullish(),
  bot: z.object({ workspace_name: z.string().nullish() }).nullish(),
});

/** What most types of blocks have under their type; anything else counts as empty. */
export const blockContentSchema = z
  .object({
    rich_text: richTextSchema.catch([]).default([]),
    caption: richTextSchema.catch([]).default([]),
    checked: z.boolean().catch(false).default(false),
    language: z.string().catch('').default(''),
    expression: z.string().catch('').default(''),
    url: z.string().catch('').default(''),
    cells: z.array(richTextSchema).catch([]).default([]),
    has_column_header: z.boolean().catch(false).default(false),
  })
  .catch({
    rich_text: [],
    caption: [],
    checked: false,
    language: '',
    expression: '',
    url: '',
    cells: [],
    has_column_header: false,
  });

export function readRichText(value: unknown): RichText {
  return richTextSchema.safeParse(value).data ?? [];
}

export function isTrashed({ in_trash: inTrash, archived }: z.infer<z.ZodObject<typeof trashed>>) {
  return inTrash === true || archived === true;
}
