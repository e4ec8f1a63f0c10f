import { z } from 'zod';
import { datasetSchema } from '../../semantic/model/dataset.ts';
import { querySchema } from '../../semantic/query/query.ts';
import { savedQuerySchema } from '../../semantic/query/saved-query.ts';
import { projectConfigSchema } from './config.ts';

/** The schemas of the files and queries that people and programs write. */
export const projectSchemas = {
  ktx: projectConfigSchema,
  dataset: datasetSchema,
  query: querySchema,
  'saved-query': savedQuerySchema,
} as const;

/** JSON Schema 2020-12 of the input, for editors: keys with a default are optional. */
export function jsonSchema(schema: z.ZodType): z.core.JSONSchema.BaseSchema {
  return z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
}

export function jsonSchemaText(schema: z.ZodType): string {
  return `${JSON.stringify(jsonSchema(schema), null, 2)}\n`;
}
