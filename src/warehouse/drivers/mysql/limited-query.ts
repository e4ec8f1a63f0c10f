import type { Socket } from 'node:net';
import type { Connection, FieldPacket, PoolConnection, TypeCastField } from 'mysql2';
import { answerMeter, type Rows } from '../../driver.ts';
import type { Cell } from '../../warehouse.ts';
import { fieldType, mysqlCell } from './values.ts';

/** The socket of a connection, which the library's types keep to themselves. */
function socketOf(connection: Connection | PoolConnection): Socket {
  return (connection as unknown as { stream: Socket }).stream;
}

/** One statement by the text protocol, as written; where more rows come than are wanted, or too much of them, `stop` is told. */
export function runLimited(
  connection: PoolConnection,
  sql: string,
  { maxRows, stop }: { maxRows: number; stop: () => void },
): Promise<Rows> {
  const { promise, resolve, reject } = Promise.withResolvers<Rows>();
  const count = answerMeter();
  const rows: Cell[][] = [];
  let fields: readonly FieldPacket[] = [];
  let types: readonly Rows['columns'][number][] = [];
  const socket = socketOf(connection);
  const done = (truncated: boolean): void => {
    socket.off('data', read);
    resolve({ columns: types, rows, truncated });
  };
  const read = (bytes: Uint8Array): void => {
    try {
      count(bytes.length);
    } catch (error) {
      socket.off('data', read);
      reject(error);
      stop();
    }
  };
  socket.on('data', read);
  const typeCast = (field: TypeCastField): Buffer | null => field.buffer();
  const query = connection.query({ sql, rowsAsArray: true, typeCast });
  query.on('fields', (described: FieldPacket[] | undefined) => {
    fields = described ?? [];
    types = fields.map((field) => ({ name: field.name, type: fieldType(field) }));
  });
  let isFull = false;
  query.on('result', (row: unknown) => {
    if (isFull || !Array.isArray(row)) return;
    isFull = rows.length === maxRows;
    if (!isFull)
      rows.push(
        fields.map((field, index) =>
          mysqlCell(row[index] as Buffer | null, field, types[index]?.type ?? 'unknown'),
        ),
      );
    else {
      done(true);
      stop();
    }
  });
  query.on('error', (error: Error) => {
    socket.off('data', read);
    reject(error);
  });
  query.on('end', () => done(false));
  return promise;
}
