import { z } from 'zod';

/** The `serve` section of `ktx.yaml`. */
export const serveConfigSchema = z
  .strictObject({
    audit: z
      .strictObject({
        arguments: z
          .enum(['hash', 'redacted'])
          .default('hash')
          .describe(
            'What the audit keeps of the arguments of a call. `hash`: a keyed hash, to compare calls. `redacted`: names and SQL, with a mark in place of each value.',
          ),
      })
      .prefault({})
      .describe('The record of every call, in .ktx/audit.'),
  })
  .describe('The MCP server over HTTP: `ktx mcp serve --http`.');
