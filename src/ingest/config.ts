import { z } from 'zod';
import { durationSchema } from '../lib/time/duration.ts';
import { embeddingsConfigSchema } from '../llm/ai-sdk/embedding-providers.ts';

/** The `ingest` section of `ktx.yaml`. */
export const ingestConfigSchema = z
  .strictObject({
    steps_per_unit: z
      .int()
      .min(2)
      .max(200)
      .default(24)
      .describe(
        'Maximum number of assistant turns for one work unit. Items that the model does not reach stay pending.',
      ),
    max_wait: durationSchema
      .default('10m')
      .describe(
        'The longest wait that the server of a source may ask for, like 90s or 10m. If it asks for more, what was read by then is kept and the next run goes on.',
      ),
    embeddings: embeddingsConfigSchema.optional(),
  })
  .describe('How a model reads the items that code cannot read.');
