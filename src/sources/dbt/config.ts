import { z } from 'zod';

export const dbtConfigSchema = z.strictObject({
  driver: z.literal('dbt'),
  path: z.string().min(1).describe('The folder of the dbt project (with dbt_project.yml), relative to this one or absolute.'),
  artifacts: z.string().min(1).optional().describe('The folder with manifest.json, catalog.json, semantic_manifest.json; by default the target folder of the project.'), // prettier-ignore
  warehouse: z.string().min(1).optional().describe('The connection that the models are built in; needed where several have tables of the same names.'), // prettier-ignore
  target_schema: z.string().min(1).optional().describe('The schema that the target builds into, where dbt did not leave a manifest.'),
  vars: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional().describe('Values for var(), as with dbt --vars.'), // prettier-ignore
});
export type DbtConfig = z.infer<typeof dbtConfigSchema>;
