import { z } from 'zod';
import { parseByteSize } from '../../lib/byte-size.ts';
import { ingestConfigSchema } from '../../ingest/config.ts';
import { llmConfigSchema } from '../../llm/config.ts';
import { telemetryConfigSchema } from '../../llm/telemetry/telemetry-config.ts';
import { scanConfigSchema } from '../../scan/config.ts';
import { sourceConfigSchemas, type SourceConfig } from '../../sources/config.ts';
import { authorityConfigSchema } from './authority.ts';
import { serveConfigSchema } from './serve-config.ts';
import { drivers, warehouseConfigSchemas, type WarehouseConfig } from '../../warehouse/config.ts';
import type { Scope } from '../../warehouse/warehouse.ts';
import { notesName } from '../../sources/notes/note-files.ts';

const byteSizeSchema = z.union([
  z.int().positive(),
  z.string().refine((text) => parseByteSize(text) !== undefined, 'a size such as 10GB'),
]);

const queryConfigSchema = z
  .strictObject({
    max_rows: z
      .int()
      .min(1)
      .max(1_000_000)
      .default(1000)
      .describe('Maximum number of rows in an answer.'),
    timeout_seconds: z
      .number()
      .positive()
      .max(86_400)
      .default(60)
      .describe('Cancels a statement after this many seconds.'),
    max_bytes: byteSizeSchema
      .optional()
      .describe(
        'A statement that would read more than this is not run, on engines that can tell or limit it; others run it and warn: a number of bytes, or a size such as 10GB. Default: no limit.',
      ),
    max_cost_usd: z
      .number()
      .positive()
      .optional()
      .describe(
        'A statement that would cost more US dollars than this is not run, where the provider bills the bytes that it reads. Default: no limit.',
      ),
    max_bytes_allowed: byteSizeSchema
      .optional()
      .describe(
        'A statement beyond max_bytes or max_cost_usd that would not read more than this is run if the person agrees whom an MCP client asks: a number of bytes, or a size such as 100GB. Default: nobody is asked.',
      ),
    run_sql: z
      .enum(['on', 'off', 'semantic_layer_only'])
      .default('on')
      .describe(
        'Whether agents may write their own SQL. `off` hides the tool; `semantic_layer_only` tells them to use metrics.',
      ),
    role: z
      .string()
      .min(1)
      .optional()
      .describe(
        'The role whose row rules (`access`) apply. --role comes first, then KTX_ROLE, then this setting.',
      ),
  })
  .describe('Limits of `ktx sl query`, `ktx sql` and the MCP tools.');

/** No connection may have these names: ktx records what people and ktx itself say under them. */
const reservedNames: readonly string[] = ['ktx', 'person', 'wiki', notesName];

/** The name becomes part of file paths and of subjects. */
export const connectionNameSchema = z
  .string()
  .regex(
    /^[a-z][a-z0-9_-]{0,62}$/,
    'a connection name is lower case: a letter, then letters, digits, _ or -',
  )
  .refine(
    (name) => !reservedNames.includes(name),
    `${reservedNames.join(', ')} are reserved names`,
  );

/** One connection of `ktx.yaml`: a warehouse, or a source of context. */
export const connectionConfigSchema = z.discriminatedUnion('driver', [
  ...warehouseConfigSchemas,
  ...sourceConfigSchemas,
]);

/** `ktx.yaml`, composed of the slices that the rooms declare. */
export const projectConfigSchema = z
  .strictObject({
    connections: z
      .record(connectionNameSchema, connectionConfigSchema)
      .default({})
      .describe(
        'Warehouses and context sources by name. The datasets of a warehouse are in the folder semantic-layer/<name>.',
      ),
    scan: scanConfigSchema
      .prefault({})
      .describe('How warehouses are profiled and how relationships are found.'),
    query: queryConfigSchema.prefault({}),
    ingest: ingestConfigSchema.prefault({}),
    authority: authorityConfigSchema.prefault({}),
    git: z
      .enum(['commit', 'write'])
      .optional()
      .describe(
        'Whether ktx commits what it writes. Default: commit, except where the repository signs commits or has commit hooks; there ktx only writes the files.',
      ),
    llm: llmConfigSchema.prefault({}),
    serve: serveConfigSchema.prefault({}),
    telemetry: telemetryConfigSchema.prefault({}),
  })
  .describe('Configuration of a ktx project.');

export type ProjectConfig = z.infer<typeof projectConfigSchema>;
export type ConnectionConfig = ProjectConfig['connections'][string];

/**
 * Undefined if `ktx.yaml` has no such connection; also for names of object members like
 * `constructor`.
 */
export function findConnection(
  { connections }: ProjectConfig,
  name: string,
): ConnectionConfig | undefined {
  return Object.hasOwn(connections, name) ? connections[name] : undefined;
}

export function isWarehouse(config: ConnectionConfig): config is WarehouseConfig {
  return drivers.some(({ name }) => name === config.driver);
}

/** The names of all warehouses. */
export function listWarehouses({ connections }: ProjectConfig): string[] {
  return Object.keys(connections).filter((name) =>
    isWarehouse(connections[name] as ConnectionConfig),
  );
}

/** All sources by name. */
export function listSources({
  connections,
}: ProjectConfig): [name: string, config: SourceConfig][] {
  return Object.entries(connections).flatMap(([name, config]) =>
    isWarehouse(config) ? [] : [[name, config]],
  );
}

/** The part of the warehouse that the connection covers. */
export function readConfiguredScope(config: WarehouseConfig): Scope {
  return 'schemas' in config && Array.isArray(config.schemas)
    ? { schemas: config.schemas.map(String) }
    : {};
}

/** What a statement may read and cost, in bytes and US dollars. */
export function spendingLimits({
  query: { max_bytes: size, max_cost_usd: maxCostUsd },
}: ProjectConfig) {
  const maxBytes = typeof size === 'string' ? parseByteSize(size) : size;
  return { maxBytes, maxCostUsd };
}

/** What a person may allow a statement to read, in bytes; undefined: nobody is asked. */
export function mostAllowedBytes({ query }: ProjectConfig): number | undefined {
  const { max_bytes_allowed: size } = query;
  return typeof size === 'string' ? parseByteSize(size) : size;
}
