import type { Connection, Request } from 'tedious';
import type { QueryRows } from '../../../driver.ts';
import { limitResultSize, rowSize } from '../../../result-size.ts';
import type { Cell } from '../../../warehouse.ts';
import { type SqlServerResultColumn, resultFieldType, sqlserverCell } from '../values.ts';

interface Tedious {
  readonly Request: typeof Request;
}

interface SentStatement {
  readonly sql: string;
  /**
   * `batch`: as it is; a setting that it makes stays. `procedure`: by `sp_executesql`, which reads
   * the text as one unit of its own.
   */
  readonly by: 'batch' | 'procedure';
  readonly maxRows: number;
}

/** Messages that come with every login, and with every aggregate over a NULL. */
const usualMessages: readonly number[] = [5701, 5703, 8153];

/**
 * Sends one statement on a connection that has no other. Rows beyond `maxRows` are not read: the
 * server is told to stop. Throws the server's error with its number as `code`.
 */
export async function sendRequest(
  connection: Connection,
  { sql, by, maxRows }: SentStatement,
  { Request: RequestClass }: Tedious,
): Promise<QueryRows> {
  const { promise, resolve, reject } = Promise.withResolvers<QueryRows>();
  const addSize = limitResultSize();
  const rows: (readonly Cell[])[] = [];
  const warnings: string[] = [];
  let columns: readonly SqlServerResultColumn[] | undefined;
  let truncated = false;
  let fault: Error | undefined;
  const stop = (reason?: unknown): void => {
    fault ??= reason instanceof Error ? reason : undefined;
    connection.cancel();
  };
  const request = new RequestClass(sql, (error) => {
    connection.off('infoMessage', readMessage);
    const isStopped = truncated && fault === undefined;
    if (fault !== undefined) reject(fault);
    else if (error && !isStopped) reject(numberedError(error));
    else resolve({ columns: (columns ?? []).map(describeColumn), rows, truncated, warnings });
  });
  const readMessage = ({ number, message }: { number: number; message: string }): void => {
    if (!usualMessages.includes(number)) warnings.push(message);
  };
  connection.on('infoMessage', readMessage);
  request.on('columnMetadata', (described) => {
    if (columns !== undefined) stop(new Error('it sent more than one result'));
    columns ??= Array.isArray(described) ? described : Object.values(described);
  });
  request.on(
    'row',
    (row: readonly { readonly value: unknown; readonly metadata: SqlServerResultColumn }[]) => {
      if (truncated || fault !== undefined) return;
      if (rows.length >= maxRows) {
        truncated = true;
        return stop();
      }
      try {
        const cells = row.map(({ value, metadata }) => sqlserverCell(value, metadata));
        addSize(rowSize(cells));
        rows.push(cells);
      } catch (error) {
        stop(error);
      }
    },
  );
  if (by === 'batch') connection.execSqlBatch(request);
  else connection.execSql(request);
  return promise;
}

function describeColumn(column: SqlServerResultColumn) {
  return { name: column.colName, type: resultFieldType(column) };
}

/** The first error says what is wrong; those behind it say that the batch ended. */
export function numberedError(error: unknown): Error {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  if (!(first instanceof Error)) return new Error(String(first));
  const { number, code } = first as Error & { readonly number?: number; readonly code?: string };
  return Object.assign(new Error(first.message), { code: number ?? code ?? '' });
}
