import { startEngineAhead } from '../engine-process/spare-engines.ts';
import { duckdbProgram } from './duckdb/reader.ts';
import { sqliteProgram } from './sqlite/reader.ts';

/**
 * Starts the process of an engine that runs beside ktx, while there is other work to do before its
 * database is opened. It opens nothing. Does nothing for other engines.
 */
export function startEngineOf(driver: string): void {
  if (driver === 'duckdb') startEngineAhead(duckdbProgram);
  if (driver === 'sqlite') startEngineAhead(sqliteProgram);
}
