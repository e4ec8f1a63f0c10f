import { z } from 'zod';
import { allowFunctionsSchema } from '../../allow-functions.ts';
import { tableScopeKeys } from '../../scope/table-scope.ts';
import { pathSchema } from '../../database-file.ts';
import type { DriverDescription } from '../../driver-description.ts';
import { filesConfigSchema } from './files/file-options.ts';

export const duckdbConfigSchema = z.strictObject({
  driver: z.literal('duckdb'),
  path: pathSchema.describe(
    'A DuckDB database file; or Parquet, CSV, JSON or Excel files: one file, a folder or a glob. Relative to the project or absolute.',
  ),
  files: filesConfigSchema.optional(),
  schemas: z
    .array(z.string())
    .min(1)
    .optional()
    .describe('Use only these schemas. Datasets of the first one have names without a schema.'),
  allow_functions: allowFunctionsSchema,
  ...tableScopeKeys,
});
export type DuckdbConfig = z.infer<typeof duckdbConfigSchema>;

export const duckdbDriver = {
  name: 'duckdb',
  title: 'DuckDB, Parquet, CSV, JSON, Excel',
  config: duckdbConfigSchema,
  examples: [
    ['--driver duckdb --path shop.duckdb', 'a DuckDB file'],
    ['--driver duckdb --path ./exports', 'a folder of Parquet, CSV, JSON or Excel files'],
  ],
  systemNames: /^(?:duckdb_|pragma_|information_schema$)/i,
  file: {
    defaultName: 'warehouse.duckdb',
    signature: 'DUCK',
    signatureAt: 8,
    tables: /\.(?:parquet|xlsx|(?:csv|tsv|json|jsonl|ndjson)(?:\.gz|\.zst|\.zip)?)$/i,
  },
} as const satisfies DriverDescription;
