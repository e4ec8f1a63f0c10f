import { z } from 'zod';

export const metricflowConfigSchema = z.strictObject({
  driver: z.literal('metricflow'),
  path: z
    .string()
    .min(1)
    .describe(
      'A folder of YAML files with semantic models and metrics. Relative to the project or absolute.',
    ),
  warehouse: z
    .string()
    .min(1)
    .optional()
    .describe(
      'The connection that the tables are in; needed where several have tables of the same names.',
    ),
});
export type MetricflowConfig = z.infer<typeof metricflowConfigSchema>;
