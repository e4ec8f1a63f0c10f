import type { Socket } from 'node:net';
import type { Connection, FieldPacket, PoolConnection } from 'mysql2';
import type { QueryRows } from '../../driver.ts';
import { limitResultSize } from '../../result-size.ts';
import type { Cell } from '../../warehouse.ts';
import { fieldType, isRoundedFloat, mysqlCell } from './values.ts';

/** The socket of a connection, which the library's types do not expose. */
export function socketOf(connection: Connection | PoolConnection): Socket {
  return (connection as unknown as { stream: Socket }).stream;
}

/** Ends the statement of a connection. Rows that arrive afterwards are dropped. */
export interface StatementStop {
  readonly stop: () => void;
  readonly isStopped: () => boolean;
}

/**
 * One packet of a result. The library uses the object again for the next packet; a clone keeps its
 * bytes.
 */
interface RowPacket {
  isEOF(): boolean;
  readLengthCodedBuffer(): Buffer | null;
  clone(): RowPacket;
}

/**
 * The library's query. It calls `row` with the first packet after the columns, and what that
 * returns with the next.
 */
interface PacketQuery {
  row: (packet: RowPacket, connection: unknown) => unknown;
}

/** A result as it was received. Its rows take as much memory as they took on the wire. */
interface ReceivedRows {
  readonly fields: readonly FieldPacket[];
  readonly packets: RowPacket[];
  readonly truncated: boolean;
}

/**
 * Runs one statement, unchanged, by the text protocol. Calls `stop` if there are more rows than
 * `maxRows` or if the result is too large; until its size is known, nothing of it is converted.
 */
export async function runLimited(
  connection: PoolConnection,
  sql: string,
  limits: StatementStop & { readonly maxRows: number },
): Promise<QueryRows> {
  const socket = socketOf(connection);
  const addSize = limitResultSize();
  const { promise: tooLarge, reject } = Promise.withResolvers<never>();
  const countBytes = (bytes: Uint8Array): void => {
    try {
      addSize(bytes.length);
    } catch (error) {
      reject(error);
      limits.stop();
    }
  };
  socket.on('data', countBytes);
  try {
    return convertRows(await Promise.race([receiveRows(connection, sql, limits), tooLarge]));
  } finally {
    socket.off('data', countBytes);
  }
}

function receiveRows(
  connection: PoolConnection,
  sql: string,
  { maxRows, stop, isStopped }: StatementStop & { readonly maxRows: number },
): Promise<ReceivedRows> {
  const { promise, resolve, reject } = Promise.withResolvers<ReceivedRows>();
  const packets: RowPacket[] = [];
  let fields: readonly FieldPacket[] = [];
  const query = connection.query(sql);
  query.on('fields', (received: FieldPacket[] | undefined) => {
    fields = received ?? [];
  });
  takePackets(query as unknown as PacketQuery, (packet) => {
    if (isStopped()) return;
    if (packets.length < maxRows) {
      packets.push(packet.clone());
    } else {
      resolve({ fields, packets, truncated: true });
      stop();
    }
  });
  query.on('error', reject);
  // Rows may be missing after a stop. Where they are expected to be, the promise is settled
  // already.
  query.on('end', () =>
    isStopped()
      ? reject(new Error('The statement was stopped.'))
      : resolve({ fields, packets, truncated: false }),
  );
  return promise;
}

/**
 * Hands the packet of each row to `take`, in place of the library's reader, which makes an object
 * of each cell.
 */
function takePackets(query: PacketQuery, take: (packet: RowPacket) => void): void {
  const readEnd = query.row.bind(query);
  query.row = (packet, connection) => {
    if (packet.isEOF()) return readEnd(packet, connection);
    take(packet);
    return query.row;
  };
}

/** Empties `packets`, so that bytes and cells of the whole result are never in memory together. */
function convertRows({ fields, packets, truncated }: ReceivedRows): QueryRows {
  const columns = fields.map((field) => ({ name: field.name, type: fieldType(field) }));
  const roundedColumns = new Set<string>();
  const rows: Cell[][] = [];
  packets.reverse();
  for (let packet = packets.pop(); packet !== undefined; packet = packets.pop()) {
    const row: Cell[] = [];
    for (const [index, field] of fields.entries()) {
      const bytes = packet.readLengthCodedBuffer();
      if (isRoundedFloat(bytes, field)) roundedColumns.add(field.name);
      row.push(mysqlCell(bytes, field, columns[index]?.type ?? 'unknown'));
    }
    rows.push(row);
  }
  return { columns, rows, truncated, warnings: [...roundedColumns].map(roundedFloatWarning) };
}

function roundedFloatWarning(column: string): string {
  return `${column} is a FLOAT, which the server writes with six digits. CAST(… AS DOUBLE) shows all of them.`;
}
