import { z } from 'zod';
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
    embeddings: embeddingsConfigSchema.optional(),
  })
  .describe('How a model reads the items that code cannot read.');
