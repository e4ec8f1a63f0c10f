import { z } from 'zod';

/** The `ingest` section of `ktx.yaml`. */
export const ingestConfigSchema = z
  .strictObject({
    steps_per_unit: z
      .int()
      .min(2)
      .max(200)
      .default(24)
      .describe(
        'Turns that a model has for one work unit; the items that it does not come to stay pending.',
      ),
  })
  .describe('How a model reads what code cannot.');
