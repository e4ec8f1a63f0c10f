import { z } from 'zod';
import { ingestConfigSchema } from '../../ingest/config.ts';
import { llmConfigSchema } from '../../llm/config.ts';
import { telemetryConfigSchema } from '../../llm/telemetry-config.ts';
import { scanConfigSchema } from '../../scan/config.ts';
import { sourceConfigSchemas, type SourceConfig } from '../../sources/config.ts';
import { drivers, warehouseConfigSchemas, type WarehouseConfig } from '../../warehouse/config.ts';
import type { Scope } from '../../warehouse/warehouse.ts';

const queryConfigSchema = z
  .strictObject({
    max_rows: z
      .int()
      .min(1)
      .max(1_000_000)
      .default(1000)
      .describe('Rows that an answer has at most.'),
    timeout_seconds: z
      .number()
      .positive()
      .max(86_400)
      .default(60)
      .describe('When a statement is cancelled.'),
    run_sql: z
      .enum(['on', 'off', 'semantic_layer_only'])
      .default('on')
      .describe(
        'Whether agents may send SQL of their own; `off` hides the tool, `semantic_layer_only` refers them to metrics.',
      ),
    role: z
      .string()
      .min(1)
      .optional()
      .describe(
        'Who asks, for the row rules of datasets (`access`); --role, then KTX_ROLE, go before it.',
      ),
  })
  .describe('Limits of `ktx sl query`, `ktx sql` and the MCP tools.');

/** The source that every project has: what people and agents hand in. */
export const notesName = 'notes';

/** A connection's name is part of paths and of subjects. */
/** What ktx and people say of the context themselves is recorded under these, beside the names of connections. */
const ownNames: readonly string[] = ['ktx', 'person', 'wiki', notesName];

export const connectionNameSchema = z
  .string()
  .regex(
    /^[a-z][a-z0-9_-]{0,62}$/,
    'a connection is named in lower case: a letter, then letters, digits, _ or -',
  )
  .refine((name) => !ownNames.includes(name), `${ownNames.join(', ')} are names of ktx’s own`);

/** One connection of `ktx.yaml`: a warehouse, or a source of context. */
export const connectionConfigSchema = z.discriminatedUnion('driver', [
  ...warehouseConfigSchemas,
  ...sourceConfigSchemas,
]);

/** `ktx.yaml`: composed from the slice that each room declares. */
export const projectConfigSchema = z
  .strictObject({
    connections: z
      .record(connectionNameSchema, connectionConfigSchema)
      .default({})
      .describe(
        'Warehouses, and sources of context, by name; the name of a warehouse is the folder under semantic-layer/.',
      ),
    scan: scanConfigSchema.prefault({}).describe('How warehouses are profiled and joined up.'),
    query: queryConfigSchema.prefault({}),
    ingest: ingestConfigSchema.prefault({}),
    llm: llmConfigSchema.prefault({}),
    telemetry: telemetryConfigSchema.prefault({}),
  })
  .describe('Configuration of a ktx project.');

export type ProjectConfig = z.infer<typeof projectConfigSchema>;
export type ConnectionConfig = ProjectConfig['connections'][string];

/** Undefined for a name that `ktx.yaml` does not have, `constructor` and the like among them. */
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
export function warehouseNames({ connections }: ProjectConfig): string[] {
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

/** What of the warehouse the connection is about. */
export function configuredScope(config: WarehouseConfig): Scope {
  return 'schemas' in config && Array.isArray(config.schemas)
    ? { schemas: config.schemas.map(String) }
    : {};
}
