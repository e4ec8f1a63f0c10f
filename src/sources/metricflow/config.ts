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
      'The connection of the warehouse that has the tables. Needed if several warehouses have tables with these names.',
    ),
});
export type MetricflowConfig = z.infer<typeof metricflowConfigSchema>;
