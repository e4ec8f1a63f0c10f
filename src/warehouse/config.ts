import { z } from 'zod';
import { duckdbConfigSchema } from './drivers/duckdb/config.ts';
import { postgresConfigSchema } from './drivers/postgres/config.ts';
import { sqliteConfigSchema } from './drivers/sqlite/config.ts';

/** The visible list of warehouses: what each is called, and what it can be configured with. */
export const drivers = [
  { name: 'duckdb', title: 'DuckDB, Parquet, CSV, JSON', config: duckdbConfigSchema },
  { name: 'postgres', title: 'Postgres', config: postgresConfigSchema },
  { name: 'sqlite', title: 'SQLite', config: sqliteConfigSchema },
] as const;

/** One warehouse connection of `ktx.yaml`. */
export const warehouseConfigSchema = z.discriminatedUnion('driver', [duckdbConfigSchema, postgresConfigSchema, sqliteConfigSchema]);
export type WarehouseConfig = z.infer<typeof warehouseConfigSchema>;
