import { DuckDBInstance } from '@duckdb/node-api';

/** Creates a database file and runs a SQL script in it. `variables` are set first; the script reads them with `getvariable`. */
export async function createDatabase(
  path: string,
  script: string,
  variables: Readonly<Record<string, number>>,
): Promise<void> {
  const instance = await DuckDBInstance.create(path);
  try {
    const connection = await instance.connect();
    for (const [name, value] of Object.entries(variables))
      await connection.run(`SET VARIABLE ${name} = ${value}`);
    await connection.run(script);
    connection.closeSync();
  } finally {
    instance.closeSync();
  }
}
