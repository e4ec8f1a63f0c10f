import { type FieldDef, type PoolClient, Query, type QueryConfig } from 'pg';
import type { Socket } from 'node:net';
import { promisify } from 'node:util';
import type { QueryRows } from '../driver.ts';
import { limitResultSize } from '../result-size.ts';
import { maxInt32 } from '../time-limit.ts';
import type { FieldType } from '../../sql/field-type.ts';
import type { Cell } from '../warehouse.ts';

/** How an engine writes values: the type of a type's number, and a cell of the server's text. */
export interface WireValues {
  fieldType(oid: number): FieldType;
  cell(text: string | null, type: FieldType, oid: number): Cell;
}

type Settle = (error: Error | null, result?: unknown) => void;
type SyncableConnection = { sync(): void };

/**
 * A query that stops at the portal's row limit; the library's own query would fetch the remaining
 * rows. The server waits for a Sync message after the limit and after an error.
 */
class LimitedQuery extends Query {
  declare readonly callback: Settle;

  handlePortalSuspended(connection: SyncableConnection): void {
    connection.sync();
  }

  handleError(error: Error, connection: SyncableConnection): void {
    connection.sync();
    this.callback(error);
  }
}

/** The socket of a connection, which the library does not expose. */
export function socketOf(client: PoolClient): Socket {
  return (client as unknown as { connection: { stream: Socket } }).connection.stream;
}

/**
 * Runs one statement, unchanged, by the extended protocol. The server sends at most `maxRows + 1`
 * rows. If the result is too large, the connection is closed.
 */
export async function runLimited(
  client: PoolClient,
  { sql, maxRows }: { readonly sql: string; readonly maxRows: number },
  values: WireValues,
): Promise<QueryRows> {
  const config = {
    text: sql,
    rows: Math.min(maxRows + 1, maxInt32),
    rowMode: 'array',
    queryMode: 'extended',
    types: { getTypeParser: () => (text: string) => text },
  } as QueryConfig;
  const run = promisify((settle: Settle) => client.query(new LimitedQuery(config, settle)));
  const socket = socketOf(client);
  const addSize = limitResultSize();
  // Bytes are counted, not rows: the library holds a row back until its last byte has arrived.
  const countBytes = (bytes: Uint8Array): void => {
    try {
      addSize(bytes.length);
    } catch (error) {
      socket.destroy(error as Error);
    }
  };
  socket.on('data', countBytes);
  const warnings: string[] = [];
  const addNotice = ({ severity, message = '' }: { severity?: string; message?: string }): void => {
    if (severity === 'WARNING' || severity === 'NOTICE') warnings.push(message);
  };
  client.on('notice', addNotice);
  const stopListening = (): void => {
    socket.off('data', countBytes);
    client.off('notice', addNotice);
  };
  const { fields, rows } = (await run().finally(stopListening)) as {
    fields: FieldDef[];
    rows: (string | null)[][];
  };
  const types = fields.map(({ dataTypeID }) => values.fieldType(dataTypeID));
  const columns = fields.map(({ name }, index) => ({ name, type: types[index] ?? 'unknown' }));
  const readRow = (row: readonly (string | null)[]): Cell[] =>
    fields.map(({ dataTypeID }, index) =>
      values.cell(row[index] ?? null, types[index] ?? 'unknown', dataTypeID),
    );
  const cells = rows.slice(0, maxRows).map(readRow);
  return { columns, rows: cells, truncated: rows.length > maxRows, warnings };
}
