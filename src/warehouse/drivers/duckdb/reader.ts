import { extname } from 'node:path';
import { openEngine } from '../../engine-process/engine.ts';
import type { EngineProgram } from '../../engine-process/engine-child.ts';
import type { QueryRows } from '../../driver.ts';
import type { CallLimits } from '../../time-limit.ts';
import type { QueryLimits } from '../../warehouse.ts';
import type { DuckdbRequest, DuckdbSetup } from './reader-process.ts';

const mebibyte = 2 ** 20;
/** DuckDB keeps less than this in memory, and writes the rest to its folder for temporary files. */
const largestBuffers = { answers: 4096 * mebibyte, scan: 320 * mebibyte };
/**
 * What the process may have beside that: the program, the result, and values that DuckDB does not
 * count.
 */
const besideBuffer = 768 * mebibyte;

export const duckdbProgram: EngineProgram = {
  engine: 'DuckDB',
  entry: new URL(`reader-process${extname(import.meta.url)}`, import.meta.url),
  isConcurrent: true,
};

/** A DuckDB database that is open in a process of its own. */
export type DuckdbReader = ReturnType<typeof openReader>;

/** Nothing is read yet: the first call fails if the file cannot be opened. */
export function openReader(
  { path, options, settings }: DuckdbSetup,
  workload: keyof typeof largestBuffers = 'answers',
) {
  const buffer = Math.floor(Math.min(process.availableMemory() / 2, largestBuffers[workload]));
  const limit = { memory_limit: `${Math.floor(buffer / mebibyte)}MiB` };
  // The options are applied in this order: without external access, the folder for temporary files
  // could not be set any more.
  const database: DuckdbSetup = { path, options: { ...limit, ...options }, settings };
  const engine = openEngine(duckdbProgram, { database, memoryBytes: buffer + besideBuffer });
  const send = (request: DuckdbRequest, limits: CallLimits) => engine.send(request, limits);
  return {
    async query(sql: string, limits: QueryLimits & CallLimits): Promise<QueryRows> {
      const { maxRows } = limits;
      const { batches, value } = await send({ kind: 'statement', sql, maxRows }, limits);
      return { ...(value as Omit<QueryRows, 'rows'>), rows: batches.flat() as QueryRows['rows'] };
    },
    async catalogRows(sql: string, limits: CallLimits): Promise<readonly unknown[]> {
      const { batches } = await send({ kind: 'catalog', sql }, limits);
      return batches.flat();
    },
    /** The syntax tree as DuckDB's own parser sees it, or its error, as JSON text. */
    async parse(sql: string, limits: CallLimits): Promise<string> {
      return String((await send({ kind: 'parse', sql }, limits)).value);
    },
    async runScript(sql: string, limits: CallLimits): Promise<void> {
      await send({ kind: 'script', sql }, limits);
    },
    close: () => engine.close(),
  };
}
