import { type FieldDef, type PoolClient, Query, type QueryConfig } from 'pg';
import type { Socket } from 'node:net';
import { promisify } from 'node:util';
import { answerMeter, largestNumber, type Rows } from '../../driver.ts';
import { fieldType, postgresCell } from './values.ts';

type Settle = (error: Error | null, answer?: unknown) => void;
type Syncing = { sync(): void };

/** Stops at the portal's row limit, where the library would go on to the last row; after an error too the server waits for a Sync. */
class LimitedQuery extends Query {
  declare readonly callback: Settle;

  handlePortalSuspended(connection: Syncing): void {
    connection.sync();
  }

  handleError(error: Error, connection: Syncing): void {
    connection.sync();
    this.callback(error);
  }
}

/** The socket of a connection, which the library keeps to itself. */
export function socketOf(client: PoolClient): Socket {
  return (client as unknown as { connection: { stream: Socket } }).connection.stream;
}

/** One statement by the extended protocol, as written; the server sends `maxRows` rows and one more. Too large an answer costs the connection. */
export async function runLimited(client: PoolClient, sql: string, maxRows: number): Promise<Rows> {
  const types = { getTypeParser: () => (text: string) => text };
  const config = {
    text: sql,
    rows: Math.min(maxRows + 1, largestNumber),
    rowMode: 'array',
    queryMode: 'extended',
    types,
  } as QueryConfig;
  const run = promisify((settle: Settle) => client.query(new LimitedQuery(config, settle)));
  const [socket, count] = [socketOf(client), answerMeter()];
  // The library keeps a row until its last byte is there.
  const read = (bytes: Uint8Array): void => {
    try {
      count(bytes.length);
    } catch (error) {
      socket.destroy(error as Error);
    }
  };
  socket.on('data', read);
  const { fields, rows } = (await run().finally(() => socket.off('data', read))) as {
    fields: FieldDef[];
    rows: (string | null)[][];
  };
  const columns = fields.map(({ name, dataTypeID }) => ({ name, type: fieldType(dataTypeID) }));
  const cells = rows
    .slice(0, maxRows)
    .map((row) => row.map((text, index) => postgresCell(text, columns[index]?.type ?? 'unknown')));
  return { columns, rows: cells, truncated: rows.length > maxRows };
}
