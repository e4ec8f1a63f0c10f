import { z } from 'zod';
import { entriesOf } from '../http/known-entries.ts';

/** What ktx reads of the answers of Confluence. Everything else in them is dropped. */

const idSchema = z.union([z.string().regex(/^\d+$/), z.int().nonnegative()]).transform(String);
const linksSchema = z.object({ next: z.string().nullish() }).nullish();

const listOf = <Entry extends z.ZodType>(entry: Entry) =>
  z.object({ results: entriesOf(entry), _links: linksSchema });

export const userSchema = z.object({
  displayName: z.string().nullish(),
  publicName: z.string().nullish(),
  username: z.string().nullish(),
});

const spaceSchema = z.object({
  id: idSchema,
  key: z.string(),
  name: z.string().default(''),
  type: z.string().default('global'),
});
export const spacesSchema = listOf(spaceSchema);
export type ConfluenceSpace = z.infer<typeof spaceSchema>;

const versionSchema = z.object({ number: z.number() });

/** Of the API v2, in the cloud. */
export const pagesSchema = listOf(
  z.object({
    id: idSchema,
    title: z.string(),
    parentId: idSchema.nullish(),
    parentType: z.string().nullish(),
    version: versionSchema,
  }),
);

const bodySchema = z.object({ storage: z.object({ value: z.string() }) });
/** Both APIs give a page with its body in this form. */
export const pageBodySchema = z.object({
  id: idSchema,
  title: z.string(),
  version: versionSchema,
  body: bodySchema,
});
export type ConfluencePageBody = z.infer<typeof pageBodySchema>;

/** A list that is not there is not known to be empty. */
const countedSchema = z
  .object({ results: z.array(z.unknown()), size: z.number().optional() })
  .transform(({ results, size = 0 }) => Math.max(results.length, size));
export const readersSchema = z
  .object({ restrictions: z.object({ user: countedSchema, group: countedSchema }) })
  .transform(({ restrictions: { user, group } }) => user + group > 0);

const labelSchema = z.object({ name: z.string() });
const labelsSchema = z
  .object({ results: z.array(labelSchema) })
  .transform(({ results }) => results.map(({ name }) => name).sort());
export const labelListSchema = listOf(labelSchema);

/** Of the API v1, which also the cloud has for searches. */
export const contentsSchema = listOf(
  z.object({
    id: idSchema,
    title: z.string(),
    version: versionSchema.optional(),
    ancestors: z.array(z.object({ id: idSchema })).optional(),
    restrictions: z.object({ read: readersSchema }),
    metadata: z.object({ labels: labelsSchema }),
  }),
);

export const folderSchema = z.object({
  parentId: idSchema.nullish(),
  parentType: z.string().nullish(),
});
