import { z } from 'zod';
import { repositorySchema } from '../git-checkout.ts';

export const dbtConfigSchema = z.strictObject({
  driver: z.literal('dbt'),
  path: z
    .string()
    .min(1)
    .default('.')
    .describe(
      'The folder that contains dbt_project.yml. Relative to the project or absolute; with `git`, relative to the repository.',
    ),
  git: repositorySchema
    .optional()
    .describe(
      'The address of the git repository with the dbt project. If it contains a password, write env:NAME. Your git must be able to clone it.',
    ),
  branch: z
    .string()
    .regex(/^[^-\s][^\s]*$/)
    .optional()
    .describe('The branch to read. Default: the default branch of the repository.'),
  artifacts: z
    .string()
    .min(1)
    .optional()
    .describe(
      'The folder with manifest.json, catalog.json and semantic_manifest.json. Default: the target folder of the dbt project.',
    ),
  warehouse: z
    .string()
    .min(1)
    .optional()
    .describe(
      'The connection of the warehouse that has the tables. Needed if several warehouses have tables with these names.',
    ),
  target_schema: z
    .string()
    .min(1)
    .optional()
    .describe('The schema that dbt builds into. Needed if there is no manifest.json.'),
  vars: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
    .optional()
    .describe('Values for var(), like those of dbt --vars, and for env_var().'),
});
export type DbtConfig = z.infer<typeof dbtConfigSchema>;
