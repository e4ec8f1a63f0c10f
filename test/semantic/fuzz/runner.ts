import { DuckDBInstance } from '@duckdb/node-api';
import { createConnection } from 'mysql2/promise';
import { DatabaseSync } from 'node:sqlite';
import { Client } from 'pg';
import { lockSettings } from '../../../src/warehouse/drivers/duckdb/settings.ts';
import { registerFunctions } from '../../../src/warehouse/drivers/sqlite/register-functions.ts';
import { createClickhouse, runClickhouse } from '../../support/clickhouse.ts';
import { createMariadb } from '../../support/mariadb.ts';
import { createDatabase } from '../../support/postgres.ts';

export const runnerNames = ['duckdb', 'sqlite', 'postgres'] as const;
/** MariaDB answers for MySQL, where it is installed; ClickHouse in `npm run test:clickhouse`. */
export type RunnerName = (typeof runnerNames)[number] | 'mysql' | 'clickhouse';

/** An engine without the gate in between, which thousands of statements would wait for. */
export interface Runner {
  run(script: string): Promise<void>;
  rows(sql: string): Promise<readonly (readonly unknown[])[]>;
  /** True for the error of an engine that says that it cannot run such a statement. */
  lacks?(error: unknown): boolean;
  close(): Promise<void>;
}

export async function openRunner(name: RunnerName): Promise<Runner> {
  switch (name) {
    case 'duckdb': {
      // Threads cost more than they save over a dozen rows.
      const connection = await (
        await DuckDBInstance.create(':memory:', { threads: '1' })
      ).connect();
      for (const setting of lockSettings) await connection.run(setting);
      return {
        run: async (script) => void (await connection.run(script)),
        rows: async (sql) => (await connection.runAndReadAll(sql)).getRowsJson(),
        close: () => Promise.resolve(connection.closeSync()),
      };
    }
    case 'sqlite':
      return sqliteRunner();
    case 'postgres': {
      const client = new Client({
        connectionString: await createDatabase('fuzz'),
        types: { getTypeParser: () => (text: string) => text },
      });
      await client.connect();
      return {
        run: async (script) => void (await client.query(script)),
        rows: async (sql) => (await client.query<unknown[]>({ text: sql, rowMode: 'array' })).rows,
        close: () => client.end(),
      };
    }
    case 'clickhouse': {
      const url = await createClickhouse('');
      return {
        run: async (script) => void (await runClickhouse(url, script)),
        rows: async (sql) => {
          const lines = await runClickhouse(url, `${sql} FORMAT JSONCompactEachRow`);
          return lines.map(
            (line) => JSON.parse(line.replaceAll(/(?<=:\d\d)\.0+(?=")/g, '')) as readonly unknown[],
          );
        },
        lacks: (error) => error instanceof Error && error.message.includes('NOT_IMPLEMENTED'),
        close: () => Promise.resolve(),
      };
    }
    case 'mysql': {
      const connection = await createConnection({
        uri: await createMariadb(''),
        multipleStatements: true,
        dateStrings: true,
      });
      await connection.query("SET SESSION time_zone = '+00:00', div_precision_increment = 12");
      return {
        run: async (script) => void (await connection.query(script)),
        rows: async (sql) =>
          (
            await connection.query({ sql, rowsAsArray: true })
          )[0] as unknown as readonly (readonly unknown[])[],
        close: () => connection.end(),
      };
    }
  }
  return name satisfies never;
}

function sqliteRunner(): Runner {
  const database = new DatabaseSync(':memory:');
  registerFunctions(database);
  return {
    run: (script) => Promise.resolve(database.exec(script)),
    rows(sql) {
      const statement = database.prepare(sql);
      statement.setReturnArrays(true);
      return Promise.resolve(statement.all() as unknown as readonly (readonly unknown[])[]);
    },
    close: () => Promise.resolve(database.close()),
  };
}
