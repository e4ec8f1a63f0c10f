import { z } from 'zod';
import { datasetSchema } from '../../semantic/model/dataset.ts';
import { querySchema } from '../../semantic/query/query.ts';
import { projectConfigSchema } from './config.ts';

/** What a person or a program writes into a project or asks of it, each with the schema that checks it. */
export const projectSchemas = {
  ktx: projectConfigSchema,
  dataset: datasetSchema,
  query: querySchema,
} as const;

/** JSON Schema 2020-12, for editors; what has a default may be left out. */
export function jsonSchema(schema: z.ZodType): z.core.JSONSchema.BaseSchema {
  return z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
}

export function jsonSchemaText(schema: z.ZodType): string {
  return `${JSON.stringify(jsonSchema(schema), null, 2)}\n`;
}
