import { extname } from 'node:path';
import type { QueryRows } from '../../driver.ts';
import { openEngine } from '../../engine-process/engine.ts';
import type { EngineProgram } from '../../engine-process/engine-child.ts';
import type { CallLimits } from '../../time-limit.ts';
import type { QueryLimits } from '../../warehouse.ts';
import type { SqliteRequest, SqliteSetup } from './reader-process.ts';

/** SQLite itself takes at most 1 GiB; the percentiles and sketches of ktx come on top. */
const memoryBytes = 2 * 2 ** 30;

/** SQLite's calls block its process: only a kill stops them. */
export const sqliteProgram: EngineProgram = {
  engine: 'SQLite',
  entry: new URL(`reader-process${extname(import.meta.url)}`, import.meta.url),
  isConcurrent: false,
};

/**
 * A SQLite database that is open in a process of its own. The first call fails if the file cannot
 * be opened.
 */
export function openReader(database: SqliteSetup) {
  const engine = openEngine(sqliteProgram, { database, memoryBytes });
  const send = (request: SqliteRequest, limits: CallLimits) => engine.send(request, limits);
  return {
    async query(sql: string, limits: QueryLimits & CallLimits): Promise<QueryRows> {
      const { batches, value } = await send({ sql, maxRows: limits.maxRows }, limits);
      return { ...(value as Omit<QueryRows, 'rows'>), rows: batches.flat() as QueryRows['rows'] };
    },
    async catalogRows(sql: string, limits: CallLimits): Promise<readonly unknown[]> {
      return (await send({ sql }, limits)).value as unknown[];
    },
    close: () => engine.close(),
  };
}
