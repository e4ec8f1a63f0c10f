import type { z } from 'zod';
import { hasFileSignature } from './database-file.ts';
import type { DriverDescription } from './driver-description.ts';
import { bigqueryConfigSchema, bigqueryDriver } from './drivers/bigquery/config.ts';
import { clickhouseConfigSchema, clickhouseDriver } from './drivers/clickhouse/config.ts';
import { databricksConfigSchema, databricksDriver } from './drivers/databricks/config.ts';
import { duckdbConfigSchema, duckdbDriver } from './drivers/duckdb/config.ts';
import { mysqlConfigSchema, mysqlDriver } from './drivers/mysql/config.ts';
import { postgresConfigSchema, postgresDriver } from './drivers/postgres/config.ts';
import { redshiftConfigSchema, redshiftDriver } from './drivers/redshift/config.ts';
import { snowflakeConfigSchema, snowflakeDriver } from './drivers/snowflake/config.ts';
import { sqliteConfigSchema, sqliteDriver } from './drivers/sqlite/config.ts';
import { sqlserverConfigSchema, sqlserverDriver } from './drivers/sqlserver/config.ts';
import { trinoConfigSchema, trinoDriver } from './drivers/trino/config.ts';

/** Every driver. Adding one means a folder in `drivers/` and a line here and in `open.ts`. */
export const drivers = [
  bigqueryDriver,
  clickhouseDriver,
  databricksDriver,
  duckdbDriver,
  mysqlDriver,
  postgresDriver,
  redshiftDriver,
  snowflakeDriver,
  sqliteDriver,
  sqlserverDriver,
  trinoDriver,
] as const;

/** The configuration of one connection in `ktx.yaml`, per driver. */
export const warehouseConfigSchemas = [
  bigqueryConfigSchema,
  clickhouseConfigSchema,
  databricksConfigSchema,
  duckdbConfigSchema,
  mysqlConfigSchema,
  postgresConfigSchema,
  redshiftConfigSchema,
  snowflakeConfigSchema,
  sqliteConfigSchema,
  sqlserverConfigSchema,
  trinoConfigSchema,
] as const;
export type WarehouseConfig = z.infer<(typeof warehouseConfigSchemas)[number]>;

/**
 * The driver of the database files that ktx creates itself, for example the demo's; `open.ts`
 * creates them.
 */
export const ownDatabaseDriver = duckdbDriver;

/** Flags that connect to a file, for hints: `ktx connection add <name> ${fileConnectionFlags}`. */
export const fileConnectionFlags = `--driver ${ownDatabaseDriver.name} --path <file>`;

export function driverNamed(name: WarehouseConfig['driver']): DriverDescription {
  const driver: DriverDescription | undefined = drivers.find(
    (candidate) => candidate.name === name,
  );
  if (driver === undefined) throw new Error(`There is no driver ${name}.`);
  return driver;
}

/** The driver whose database files begin like this file; undefined if none is recognized. */
export function driverOfFile(path: string): DriverDescription | undefined {
  const descriptions: readonly DriverDescription[] = drivers;
  return descriptions.find(
    ({ file }) =>
      file?.signature !== undefined &&
      hasFileSignature(path, { signature: file.signature, at: file.signatureAt ?? 0 }),
  );
}
