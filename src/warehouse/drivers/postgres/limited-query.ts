import { type FieldDef, type PoolClient, Query, type QueryConfig } from 'pg';
import type { Rows } from '../../driver.ts';
import { fieldType, postgresCell } from './values.ts';

interface Answer {
  readonly fields: FieldDef[];
  readonly rows: (string | null)[][];
}
type Settle = (error: Error | undefined, answer: unknown) => void;
interface Syncing {
  sync(): void;
}

/** Stops at the portal's row limit, where the library would go on to the last row; after an error too the server waits for a Sync. */
class LimitedQuery extends Query {
  readonly #settle: Settle;

  constructor(text: string, rows: number, settle: Settle) {
    const types = { getTypeParser: () => (value: string) => value };
    super({ text, rows, rowMode: 'array', queryMode: 'extended', types } as QueryConfig, settle);
    this.#settle = settle;
  }

  handlePortalSuspended(connection: Syncing): void {
    connection.sync();
  }

  handleError(error: Error, connection: Syncing): void {
    connection.sync();
    this.#settle(error, undefined);
  }
}

/** One statement by the extended protocol, as written; the server sends `maxRows` rows and one more. */
export async function runLimited(client: PoolClient, sql: string, maxRows: number): Promise<Rows> {
  const { fields, rows } = await new Promise<Answer>((resolve, reject) => {
    client.query(
      new LimitedQuery(sql, maxRows + 1, (error, answer) => {
        if (error) reject(error);
        else resolve(answer as Answer);
      }),
    );
  });
  const columns = fields.map(({ name, dataTypeID }) => ({ name, type: fieldType(dataTypeID) }));
  const cells = rows.slice(0, maxRows).map((row) => row.map((text, index) => postgresCell(text, columns[index]?.type ?? 'unknown')));
  return { columns, rows: cells, truncated: rows.length > maxRows };
}
