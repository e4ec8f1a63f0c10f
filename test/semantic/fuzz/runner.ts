import { DuckDBInstance } from '@duckdb/node-api';
import { DatabaseSync } from 'node:sqlite';
import { Client } from 'pg';
import { createDatabase } from '../../support/postgres.ts';

export const runnerNames = ['duckdb', 'sqlite', 'postgres'] as const;

/** An engine without the gate in between, which thousands of statements would wait for. */
export interface Runner {
  run(script: string): Promise<void>;
  rows(sql: string): Promise<readonly (readonly unknown[])[]>;
  close(): Promise<void>;
}

export async function openRunner(name: (typeof runnerNames)[number]): Promise<Runner> {
  switch (name) {
    case 'duckdb': {
      const connection = await (await DuckDBInstance.create(':memory:')).connect();
      return {
        run: async (script) => void (await connection.run(script)),
        rows: async (sql) => (await connection.runAndReadAll(sql)).getRowsJson(),
        close: () => Promise.resolve(connection.closeSync()),
      };
    }
    case 'sqlite': {
      const database = new DatabaseSync(':memory:');
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
    case 'postgres': {
      const client = new Client({ connectionString: await createDatabase('fuzz'), types: { getTypeParser: () => (text: string) => text } });
      await client.connect();
      return {
        run: async (script) => void (await client.query(script)),
        rows: async (sql) => (await client.query<unknown[]>({ text: sql, rowMode: 'array' })).rows,
        close: () => client.end(),
      };
    }
  }
  return name satisfies never;
}
