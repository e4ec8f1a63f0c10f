import { z } from 'zod';
import { repositorySchema } from '../git-checkout.ts';

export const dbtConfigSchema = z.strictObject({
  driver: z.literal('dbt'),
  path: z
    .string()
    .min(1)
    .default('.')
    .describe(
      'The folder of the dbt project (with dbt_project.yml), relative to this one or absolute; with `git`, in the repository.',
    ),
  git: repositorySchema
    .optional()
    .describe(
      'The address of a git repository that has the project, or env:NAME where it has a password; git itself must be able to reach it.',
    ),
  branch: z
    .string()
    .regex(/^[^-\s][^\s]*$/)
    .optional()
    .describe('A branch of the repository; its default branch without this.'),
  artifacts: z
    .string()
    .min(1)
    .optional()
    .describe(
      'The folder with manifest.json, catalog.json, semantic_manifest.json; by default the target folder of the project.',
    ),
  warehouse: z
    .string()
    .min(1)
    .optional()
    .describe(
      'The connection of the warehouse with the models; needed where several warehouses have tables of the same names.',
    ),
  target_schema: z
    .string()
    .min(1)
    .optional()
    .describe('The schema that the target builds into; needed if dbt left no manifest.'),
  vars: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
    .optional()
    .describe('Values for var(), as with dbt --vars.'),
});
export type DbtConfig = z.infer<typeof dbtConfigSchema>;
