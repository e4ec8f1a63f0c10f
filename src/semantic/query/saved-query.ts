import { z } from 'zod';
import { descriptionSchema, nameSchema, synonymsSchema } from '../model/schema-parts.ts';
import { querySchema, type SemanticQuery } from './query.ts';

/** What the file of a saved query says beside its name. */
export const savedQueryBodySchema = z.strictObject({
  description: descriptionSchema,
  owner: z.string().min(1).optional().describe('Who answers questions about it.'),
  synonyms: synonymsSchema,
  ...querySchema.shape,
});

/** One file of `queries/`: a query with a name. */
export const savedQuerySchema = z
  .strictObject({
    query: nameSchema.describe('Name of the query; the file has the same name.'),
    ...savedQueryBodySchema.shape,
  })
  .refine(({ metrics, dimensions }) => metrics.length + dimensions.length > 0, {
    error: 'a query has metrics or dimensions',
    path: ['query'],
  })
  .describe('A query of the semantic layer with a name.');
export type SavedQueryFile = z.infer<typeof savedQuerySchema>;

/**
 * A saved query with the changes of somebody who runs it: further conditions, segments and
 * parameters are added, everything else that is given replaces what the file has.
 */
export function changeQuery(
  saved: SemanticQuery,
  changes: Partial<SemanticQuery>,
): Partial<SemanticQuery> {
  const { where = [], having = [], segments = [], parameters, ...replaced } = changes;
  return {
    ...saved,
    ...replaced,
    where: [...saved.where, ...where],
    having: [...saved.having, ...having],
    segments: [...new Set([...saved.segments, ...segments])],
    parameters: { ...saved.parameters, ...parameters },
  };
}
