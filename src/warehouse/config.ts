import type { z } from 'zod';
import { duckdbConfigSchema } from './drivers/duckdb/config.ts';
import { mysqlConfigSchema } from './drivers/mysql/config.ts';
import { postgresConfigSchema } from './drivers/postgres/config.ts';
import { sqliteConfigSchema } from './drivers/sqlite/config.ts';

/** The visible list of warehouses: what each is called, what it can be configured with, and of a server what one login reaches. */
export const drivers = [
  {
    name: 'duckdb',
    title: 'DuckDB, Parquet, CSV, JSON',
    config: duckdbConfigSchema,
    server: undefined,
  },
  {
    name: 'mysql',
    title: 'MySQL, MariaDB',
    config: mysqlConfigSchema,
    server: { port: 3306, reaches: 'server' },
  },
  {
    name: 'postgres',
    title: 'Postgres',
    config: postgresConfigSchema,
    server: { port: 5432, reaches: 'database' },
  },
  { name: 'sqlite', title: 'SQLite', config: sqliteConfigSchema, server: undefined },
] as const;

/** What makes one connection of `ktx.yaml` a warehouse. */
export const warehouseConfigSchemas = [
  duckdbConfigSchema,
  mysqlConfigSchema,
  postgresConfigSchema,
  sqliteConfigSchema,
] as const;
export type WarehouseConfig = z.infer<(typeof warehouseConfigSchemas)[number]>;

/** Flags that connect to a file, for a hint that shows what to type: `--driver <name> --path <file>`. */
export const fileConnectionFlags = `--driver ${
  drivers.find(({ server }) => server === undefined)?.name
} --path <file>`;
