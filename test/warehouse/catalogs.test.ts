import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { scanConfigSchema } from '../../src/scan/config.ts';
import { scan } from '../../src/scan/scan.ts';
import type { Warehouse } from '../../src/warehouse/warehouse.ts';
import { startDatabricks } from '../engines/databricks/server.ts';
import { startSqlserver } from '../engines/sqlserver/server.ts';
import { startTrino } from '../engines/trino/server.ts';
import { openDatabricks } from '../support/databricks.ts';
import { makeSnowflake } from '../support/snowflake.ts';
import { openSqlserver } from '../support/sqlserver.ts';
import { openTrino } from '../support/trino.ts';
import { generous, never } from '../support/warehouses.ts';

/** Accounts of one catalog, to which orders of another refer; and one that nobody asked for. */
const script = `
  CREATE TABLE orders (order_id INTEGER, account_id INTEGER, amount INTEGER);
  INSERT INTO orders SELECT range + 7000, range % 60 * 3 + 11, range * 7 FROM range(400);
  ATTACH ':memory:' AS crm;
  CREATE TABLE crm.main.accounts (account_id INTEGER PRIMARY KEY, title VARCHAR);
  INSERT INTO crm.main.accounts SELECT range * 3 + 11, 'account ' || range FROM range(60);
  CREATE TABLE crm.main.orders (order_id INTEGER, note VARCHAR);
  INSERT INTO crm.main.orders VALUES (1, 'of the crm');
  ATTACH ':memory:' AS secret;
  CREATE TABLE secret.main.salaries (amount INTEGER);
  CREATE TABLE secret.main.orders (order_id INTEGER);
`;

interface Served {
  readonly warehouse: Warehouse;
  readonly close: () => Promise<void>;
}

/** An engine with the script, and how it names what the script made. */
interface CatalogEngine {
  readonly open: (settings: object) => Promise<Served>;
  /** The key of a connection for further catalogs. */
  readonly key: 'other_catalogs' | 'other_databases';
  readonly own: string;
  readonly schema: string;
  readonly kept: (name: string) => string;
}

const asWritten = (name: string): string => name;
const served = async (
  server: { close(): Promise<void> },
  opening: Promise<Warehouse>,
): Promise<Served> => {
  try {
    const warehouse = await opening;
    return { warehouse, close: () => warehouse.close().then(() => server.close()) };
  } catch (error) {
    await server.close();
    throw error;
  }
};

const engines: Readonly<Record<'trino' | 'databricks' | 'snowflake' | 'sqlserver', CatalogEngine>> =
  {
    trino: {
      open: async (settings) => {
        const server = await startTrino({ script });
        return served(server, openTrino(server, { ...settings }));
      },
      key: 'other_catalogs',
      own: 'memory',
      schema: 'main',
      kept: asWritten,
    },
    databricks: {
      open: async (settings) => {
        const server = await startDatabricks({ script });
        return served(server, openDatabricks(server, { ...settings }));
      },
      key: 'other_catalogs',
      own: 'memory',
      schema: 'main',
      kept: asWritten,
    },
    snowflake: {
      open: async (settings) => {
        const schemas = script.replaceAll('.main.', '.public.');
        const create = schemas.replaceAll(
          /ATTACH ':memory:' AS (\w+);/g,
          '$& CREATE SCHEMA $1.public;',
        );
        const database = await makeSnowflake(create);
        return served(database.server, database.open(settings));
      },
      key: 'other_databases',
      own: 'SALES',
      schema: 'PUBLIC',
      kept: (name) => name.toUpperCase(),
    },
    sqlserver: {
      open: async (settings) => {
        const server = await startSqlserver({ script });
        return served(server, openSqlserver(server, { ...settings }));
      },
      key: 'other_databases',
      own: 'memory',
      schema: 'main',
      kept: asWritten,
    },
  };
const engineNames = Object.keys(engines) as readonly (keyof typeof engines)[];

describe.each(engineNames)('two catalogs in one connection to %s', (engine) => {
  const { open, key, own, schema, kept } = engines[engine];
  let warehouse: Warehouse;
  let close: Served['close'];
  beforeAll(async () => {
    ({ warehouse, close } = await open({ [key]: ['crm'], schemas: [schema] }));
  });
  afterAll(() => close?.());
  const rowsOf = async (sql: string) =>
    (await warehouse.query(sql.replaceAll('.main.', `.${schema}.`), generous, never)).rows;

  test('have the tables of both, those of the second with its name', async () => {
    const { tables } = await warehouse.introspect({}, never);
    expect(tables.map((table) => [table.catalog, table.schema, table.table])).toEqual([
      [undefined, schema, kept('orders')],
      [kept('crm'), schema, kept('accounts')],
      [kept('crm'), schema, kept('orders')],
    ]);
  });

  test('a statement reads from both, and from no other', async () => {
    const joined = await rowsOf(
      'SELECT count(*) AS n FROM orders AS o JOIN crm.main.accounts AS a ON a.account_id = o.account_id',
    );
    expect(joined).toEqual([[400]]);
    expect(await rowsOf('SELECT note FROM crm.main.orders')).toEqual([['of the crm']]);
    expect(await rowsOf(`SELECT count(*) AS n FROM ${own}.main.orders`)).toEqual([[400]]);
    const others = [
      'secret.main.salaries',
      'secret.main.orders',
      `${own}.main.accounts`,
      'accounts',
    ];
    for (const name of others)
      await expect(rowsOf(`SELECT * FROM ${name}`)).rejects.toMatchObject({
        code: expect.stringMatching(/gate_refused|missing_object/),
      });
  });

  test('a scan finds the join between them', async () => {
    const db = new DatabaseSync(':memory:');
    const config = scanConfigSchema.parse({});
    const { links } = await scan({ warehouse, scope: {}, state: { db }, config, signal: never });
    db.close();
    expect(links.filter(({ status }) => status === 'accepted')).toMatchObject([
      {
        from: { table: { schema, table: kept('orders') }, columns: [kept('account_id')] },
        to: { table: { catalog: kept('crm'), schema, table: kept('accounts') } },
      },
    ]);
  });
});

test.each(engineNames)('patterns with a catalog choose among the tables of %s', async (engine) => {
  const { open, key, schema, own, kept } = engines[engine];
  const { warehouse, close } = await open({
    [key]: ['crm'],
    schemas: [schema],
    tables: [`${own}.*.*`, 'crm.*.*'],
    exclude_tables: ['crm.*.orders'],
  });
  try {
    const { tables } = await warehouse.introspect({}, never);
    expect(tables.map(({ catalog, table }) => [catalog, table])).toEqual([
      [undefined, kept('orders')],
      [kept('crm'), kept('accounts')],
    ]);
  } finally {
    await close();
  }
});

describe('a further database', () => {
  const further = { other_databases: ['crm'] };

  test('of SQL Server in which the login may write is refused', async () => {
    const server = await startSqlserver({ script });
    onTestFinished(() => server.close());
    await server.execute("INSERT INTO crm.sqlserver_server.database_permissions VALUES ('UPDATE')");
    await (await openSqlserver(server)).close();
    await expect(openSqlserver(server, further)).rejects.toMatchObject({
      code: 'warehouse_privilege',
      message: expect.stringContaining('the login has UPDATE on the whole database in crm'),
    });
  });

  test('of SQL Server is never read in a schema that the statement does not name', async () => {
    const server = await startSqlserver({ script });
    const warehouse = await openSqlserver(server, further);
    onTestFinished(() => warehouse.close().then(() => server.close()));
    const reading = warehouse.query('SELECT * FROM crm..orders', generous, never);
    await expect(reading).rejects.toMatchObject({ code: 'gate_refused' });
  });

  test('whose rows are not kept by version takes the snapshots from all', async () => {
    const server = await startSqlserver({ script });
    onTestFinished(() => server.close());
    await server.execute('UPDATE sqlserver_server.settings SET snapshots = 1');
    const isolations = async (settings: object): Promise<boolean> => {
      const before = server.statements.length;
      const warehouse = await openSqlserver(server, { ...settings });
      await warehouse.query('SELECT 1 AS n', generous, never);
      await warehouse.close();
      return server.statements.slice(before).some(({ sql }) => sql.includes('SNAPSHOT'));
    };
    expect(await isolations({})).toBe(true);
    await server.execute('UPDATE sqlserver_server.settings SET snapshots = 0');
    expect(await isolations(further)).toBe(false);
  });

  test('that is not there is named', async () => {
    const server = await startSqlserver({ script });
    const snowflake = await makeSnowflake('CREATE TABLE orders (order_id INTEGER);');
    onTestFinished(() => server.close().then(() => snowflake.remove()));
    const missing = { other_databases: ['sales_2019'] };
    const named = { code: 'warehouse_not_found', message: expect.stringMatching(/sales_2019/i) };
    await expect(openSqlserver(server, missing)).rejects.toMatchObject(named);
    await expect(snowflake.open(missing)).rejects.toMatchObject(named);
  });
});
