import { z } from 'zod';
import { datasetSchema } from '../semantic/dataset.ts';
import { querySchema } from '../semantic/query.ts';
import { projectConfigSchema } from './config.ts';

/** What a person or a program writes, each with the schema that checks it. */
const fileSchemas = { ktx: projectConfigSchema, dataset: datasetSchema, query: querySchema } as const;

export type SchemaName = keyof typeof fileSchemas;
export const schemaNames: readonly SchemaName[] = ['ktx', 'dataset', 'query'];

/** JSON Schema 2020-12 of one kind of file, for editors; what has a default may be left out. */
export function jsonSchema(name: SchemaName): z.core.JSONSchema.BaseSchema {
  return z.toJSONSchema(fileSchemas[name], { io: 'input', unrepresentable: 'any' });
}

export function jsonSchemaText(name: SchemaName): string {
  return `${JSON.stringify(jsonSchema(name), null, 2)}\n`;
}
