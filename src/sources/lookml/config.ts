import { z } from 'zod';
import { repositorySchema } from '../git-checkout.ts';

export const lookmlConfigSchema = z.strictObject({
  driver: z.literal('lookml'),
  path: z
    .string()
    .min(1)
    .default('.')
    .describe(
      'The folder with the LookML files. Relative to the project or absolute; with `git`, relative to the repository.',
    ),
  git: repositorySchema
    .optional()
    .describe(
      'The address of the git repository with the LookML. If it contains a password, write env:NAME. Your git must be able to clone it.',
    ),
  branch: z
    .string()
    .regex(/^[^-\s][^\s]*$/)
    .optional()
    .describe('The branch to read. Default: the default branch of the repository.'),
  warehouse: z
    .string()
    .min(1)
    .optional()
    .describe(
      'The connection of the warehouse that has the tables. Needed if several warehouses have tables with these names.',
    ),
  constants: z
    .record(z.string(), z.string())
    .optional()
    .describe('Values of LookML constants that win over those of the manifest.'),
});
export type LookmlConfig = z.infer<typeof lookmlConfigSchema>;
