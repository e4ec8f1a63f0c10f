import type { Socket } from 'node:net';
import type { Connection, FieldPacket, PoolConnection, TypeCastField } from 'mysql2';
import type { QueryRows } from '../../driver.ts';
import { limitResultSize } from '../../result-size.ts';
import type { Cell } from '../../warehouse.ts';
import { fieldType, isRoundedFloat, mysqlCell } from './values.ts';

/** The socket of a connection, which the library's types do not expose. */
function socketOf(connection: Connection | PoolConnection): Socket {
  return (connection as unknown as { stream: Socket }).stream;
}

/** Ends the statement of a connection. Rows that arrive afterwards are dropped. */
export interface StatementStop {
  readonly stop: () => void;
  readonly isStopped: () => boolean;
}

/**
 * Runs one statement, unchanged, by the text protocol. Calls `stop` if there are more rows than `maxRows` or if the result is
 * too large.
 */
export function runLimited(
  connection: PoolConnection,
  sql: string,
  { maxRows, stop, isStopped }: StatementStop & { readonly maxRows: number },
): Promise<QueryRows> {
  const { promise, resolve, reject } = Promise.withResolvers<QueryRows>();
  const addSize = limitResultSize();
  const rows: Cell[][] = [];
  let fields: readonly FieldPacket[] = [];
  let columns: readonly QueryRows['columns'][number][] = [];
  const roundedColumns = new Set<string>();
  const socket = socketOf(connection);
  const finish = (truncated: boolean): void => {
    socket.off('data', countBytes);
    resolve({ columns, rows, truncated, warnings: [...roundedColumns].map(roundedFloatWarning) });
  };
  const fail = (error: unknown): void => {
    socket.off('data', countBytes);
    reject(error);
  };
  const countBytes = (bytes: Uint8Array): void => {
    try {
      addSize(bytes.length);
    } catch (error) {
      fail(error);
      stop();
    }
  };
  const readRow = (row: readonly unknown[]): Cell[] =>
    fields.map((field, index) => {
      const bytes = row[index] as Buffer | null;
      if (isRoundedFloat(bytes, field)) roundedColumns.add(field.name);
      return mysqlCell(bytes, field, columns[index]?.type ?? 'unknown');
    });
  socket.on('data', countBytes);
  const typeCast = (field: TypeCastField): Buffer | null => field.buffer();
  const query = connection.query({ sql, rowsAsArray: true, typeCast });
  query.on('fields', (received: FieldPacket[] | undefined) => {
    fields = received ?? [];
    columns = fields.map((field) => ({ name: field.name, type: fieldType(field) }));
  });
  query.on('result', (row: unknown) => {
    if (isStopped() || !Array.isArray(row)) return;
    if (rows.length === maxRows) {
      finish(true);
      stop();
    } else {
      rows.push(readRow(row));
    }
  });
  query.on('error', fail);
  // Rows may be missing after a stop. Where they are expected to be, the promise is settled already.
  query.on('end', () =>
    isStopped() ? fail(new Error('The statement was stopped.')) : finish(false),
  );
  return promise;
}

function roundedFloatWarning(column: string): string {
  return `${column} is a FLOAT, which the server writes with six digits. CAST(… AS DOUBLE) shows all of them.`;
}
