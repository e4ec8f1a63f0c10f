import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { UserError } from '../../src/lib/error.ts';
import { open as openDriver } from '../../src/warehouse/drivers/sqlserver/driver.ts';
import { readPlan } from '../../src/warehouse/drivers/sqlserver/plan.ts';
import { readStatementText } from '../../src/warehouse/drivers/sqlserver/statement-text.ts';
import type { DriverSession } from '../../src/warehouse/driver.ts';
import type { Warehouse } from '../../src/warehouse/warehouse.ts';
import { planText, statementTypes } from '../engines/sqlserver/statements.ts';
import { type SqlServer, startSqlserver } from '../engines/sqlserver/server.ts';
import { openSqlserver, sqlserverConfig } from '../support/sqlserver.ts';
import { generous, never } from '../support/warehouses.ts';

const script =
  `CREATE TABLE canary (a INTEGER, b VARCHAR, [order] INTEGER); INSERT INTO canary VALUES (1, 'x', 1), (2, 'y', 2);
  CREATE SCHEMA hidden; CREATE TABLE hidden.secrets (s VARCHAR);`.replaceAll(/\[(\w+)\]/g, '"$1"');

/** Statements that write. */
const writing = [
  "INSERT INTO canary VALUES (3, 'z', 3)",
  'INSERT INTO canary SELECT * FROM canary',
  'UPDATE canary SET a = 0',
  'DELETE FROM canary',
  'MERGE INTO canary AS c USING canary AS s ON c.a = s.a WHEN MATCHED THEN DELETE;',
  'TRUNCATE TABLE canary',
  'DROP TABLE canary',
  'CREATE TABLE t (a int)',
  'ALTER TABLE canary ADD c int',
  'SELECT * INTO t FROM canary',
  'GRANT SELECT ON canary TO public',
  // No semicolon is needed between two statements.
  'SELECT 1 AS a DELETE FROM canary',
  'SELECT a FROM canary DROP TABLE canary',
  'SELECT a FROM canary UPDATE canary SET a = 0',
  'SELECT a FROM canary EXEC sp_who',
  'WITH c AS (SELECT a FROM canary) DELETE FROM c',
];
const others = [
  'SELECT a FROM canary; DROP TABLE canary',
  "SELECT a FROM canary; 'x'",
  'SELECT a FROM canary; [main.evil]',
  "EXEC sp_executesql N'DROP TABLE canary'",
  "EXEC ('DROP TABLE canary')",
  "EXEC xp_cmdshell 'dir'",
  'sp_who',
  "EXECUTE AS USER = 'dbo'",
  'REVERT',
  'USE master',
  'SET SHOWPLAN_XML OFF',
  'SELECT 1 SET SHOWPLAN_XML OFF',
  'DECLARE @a int = 1 SELECT @a',
  "WAITFOR DELAY '00:10:00'",
  'SELECT 1 WAITFOR DELAY 1',
  'SHUTDOWN WITH NOWAIT',
  'KILL 55',
  'BEGIN TRANSACTION',
  'COMMIT',
  'SELECT 1 COMMIT',
  'IF 1 = 1 DROP TABLE canary',
  'WHILE 1 = 1 SELECT 1',
  "BACKUP DATABASE memory TO DISK = 'x'",
  "BULK INSERT canary FROM 'x'",
  'DBCC DROPCLEANBUFFERS',
  'RECEIVE TOP (1) * FROM canary',
  'SELECT 1 RECEIVE * FROM queue',
  'SELECT a FROM canary FETCH NEXT FROM c',
  "SELECT * FROM OPENROWSET('SQLNCLI', 'server', 'DELETE FROM canary')",
  "SELECT * FROM OPENROWSET(BULK N'c:/x', SINGLE_CLOB) AS x",
  "SELECT * FROM OPENQUERY(other, 'DELETE FROM canary')",
  "SELECT * FROM OPENDATASOURCE('SQLNCLI', 'x').memory.main.canary",
  'SELECT * FROM other.memory.main.canary',
  'SELECT * FROM other.main.canary',
  'SELECT * FROM hidden.secrets',
  'SELECT * FROM sys.objects',
  'SELECT * FROM information_schema.tables',
  'SELECT * FROM #temporary',
  'SELECT NEXT VALUE FOR numbers',
  'SELECT main.evil(a) FROM canary',
  'SELECT [main].[evil](a) FROM canary',
  'SELECT evil(a) FROM canary',
  'SELECT * FROM evil(1)',
  'SELECT * FROM main.evil(1)',
  // Functions of somebody; the analyzer calls others so.
  'SELECT * FROM date_part(1)',
  'SELECT * FROM data_type(1)',
  'SELECT * FROM length(1)',
  'SELECT * FROM [at_time_zone] (1)',
  "SELECT b.value('.', 'int') FROM canary",
  "SELECT geometry::Parse('POINT(1 1)')",
  'SELECT a FROM canary WITH (TABLOCKX)',
  'SELECT a FROM canary WITH (UPDLOCK, HOLDLOCK)',
  'SELECT a FROM canary (TABLOCKX)',
  'SELECT @@VERSION',
  'SELECT $PARTITION.f(a) FROM canary',
  'SELECT {fn USER()}',
  "SELECT sys.fn_get_audit_file('x', NULL, NULL)",
  "SELECT PWDENCRYPT('x')",
  "SELECT DECRYPTBYKEY(b), SESSION_CONTEXT(N'x') FROM canary",
  "SELECT sp_invoke_external_rest_endpoint('https://x')",
  'SELECT /* /* */ evil(2) /* */ */ 1',
  "SELECT 'a\\\n', evil(1), '",
  'SELECT 1 -- x\r, evil(2)',
  "SELECT 'unfinished",
  'SELECT [unfinished',
  'SELECT 1 /* unfinished',
  '',
  'a + 1',
];
const legal = [
  'SELECT a, b FROM canary ORDER BY a',
  'SELECT a FROM canary;',
  'SELECT a FROM canary; -- all of them',
  '-- all of them\nSELECT a FROM canary',
  "SELECT ';', '--', '/*', 'it''s', N'delete from x' FROM canary",
  'SELECT [a], "b", [order] FROM MEMORY.Main.[canary]',
  'SELECT TOP (1) a FROM canary ORDER BY a DESC',
  'SELECT DISTINCT TOP 1 a FROM canary ORDER BY a',
  'SELECT a FROM canary ORDER BY a OFFSET 1 ROWS FETCH NEXT 1 ROWS ONLY',
  'WITH c AS (SELECT a FROM canary) SELECT * FROM c',
  'SELECT a FROM canary UNION ALL SELECT a FROM canary',
  'SELECT a FROM canary EXCEPT SELECT 1',
  'SELECT a, ROW_NUMBER() OVER (PARTITION BY b ORDER BY a) AS n FROM canary',
  "SELECT CASE WHEN a = 1 THEN b END AS c, IIF(a = 1, 2, 3) AS d, ISNULL(b, 'x') AS e, COALESCE(b, 'x') AS f FROM canary",
  "SELECT STRING_AGG(b, ',') WITHIN GROUP (ORDER BY b) AS l FROM canary",
  'SELECT c.a FROM canary c JOIN canary d ON c.a = d.a WHERE EXISTS (SELECT 1 FROM canary)',
  'SELECT c.a, x.n FROM canary c CROSS APPLY (SELECT c.a + 1 AS n) x',
  "SELECT DATEADD(day, 1, CAST('2024-02-29' AS date)) AS d, DATEDIFF(day, CAST('2024-02-28' AS date), CAST('2024-02-29' AS date)) AS n",
  "SELECT LEN(b) AS l, UPPER(b) AS u, SUBSTRING(b, 1, 1) AS s, CHARINDEX('x', b) AS p FROM canary",
  'SELECT CAST(a AS nvarchar(10)) AS t, CONVERT(nvarchar(10), a) AS v, TRY_CAST(b AS int) AS n FROM canary',
  'SELECT * FROM (VALUES (1, 2), (3, 4)) AS v(a, b)',
  'SELECT MAX(a) AS m FROM canary GROUP BY GROUPING SETS ((b), ())',
  "SELECT a FROM canary WHERE b LIKE N'%x' AND a IN (1, 2) AND a = ANY (SELECT a FROM canary)",
];

let server: SqlServer;
let warehouse: Warehouse;
let session: DriverSession;
beforeAll(async () => {
  server = await startSqlserver({ script });
  await server.execute("INSERT INTO sqlserver_server.database_permissions VALUES ('DELETE')");
  warehouse = await openSqlserver(server, { allow_writable_role: true, schemas: ['main'] });
  session = await openDriver(
    { ...sqlserverConfig(server), allow_writable_role: true },
    { connection: 'wh', projectDir: '/', cacheDir: '/', secrets: () => 'p' },
    never,
  );
});
afterAll(async () => {
  await warehouse?.close();
  await session?.close();
  await server?.close();
});
const canary = async () =>
  (await warehouse.query('SELECT a, b FROM canary ORDER BY a', generous, never)).rows;
const whole = [
  [1, 'x'],
  [2, 'y'],
];
const codes = ['gate_refused', 'sql_syntax', 'missing_object'];

describe('the gate of sqlserver', () => {
  test.each([...writing, ...others])('sends nothing of %j', async (sql) => {
    const from = server.statements.length;
    const error = await warehouse.query(sql, generous, never).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(UserError);
    expect(codes).toContain((error as UserError).code);
    const sent = server.statements.slice(from).map((statement) => statement.sql);
    // A name that it does not know is looked for once more.
    expect(
      sent.filter((text) => !/\bsys\.objects AS o|TRANSACTION|^set ansi_nulls on/.test(text)),
    ).toEqual([]);
  });

  test('left everything as it was', async () => {
    expect(await canary()).toEqual(whole);
  });

  test.each(legal)('passes: %j', async (sql) => {
    await expect(warehouse.query(sql, generous, never)).resolves.toMatchObject({
      truncated: false,
    });
  });

  test.each([
    ["SELECT 'a''b;' -- it's", "SELECT 'a__b_'        ", "SELECT 'a''b;'        "],
    ['SELECT [a;b], "c--d" /* x */ ;', 'SELECT [a;b], "c--d"          ', undefined],
  ])('shows the analyzer what the engine reads: %j', (sql, normalized, sent) => {
    expect(readStatementText(sql)).toEqual({ normalized, sent: sent ?? normalized });
  });
});

describe('behind the gate, the plan of sqlserver', () => {
  test.each(writing)('keeps %j from running', async (sql) => {
    const from = server.statements.length;
    await expect(session.run(sql, generous, never)).rejects.toBeInstanceOf(UserError);
    const sent = server.statements.slice(from).filter(({ by }) => by === 'procedure');
    expect(sent).toEqual([]);
    expect(await canary()).toEqual(whole);
  });

  test('decides, where the server reads a statement in another way', async () => {
    server.rules.plannedAs = 'DELETE';
    const from = server.statements.length;
    await expect(session.run('SELECT a FROM canary', generous, never)).rejects.toMatchObject({
      code: 'gate_refused',
      message: 'Refused, ktx only reads: SQL Server calls it DELETE.',
    });
    server.rules.plannedAs = undefined;
    const sent = server.statements.slice(from).filter(({ by }) => by === 'procedure');
    expect(sent).toEqual([]);
  });

  const plan = (attributes: string, inside = '') =>
    `<ShowPlanXML><BatchSequence><Batch><Statements><StmtSimple ${attributes}>${inside}</StmtSimple></Statements></Batch></BatchSequence></ShowPlanXML>`;
  const select = 'StatementType="SELECT" StatementEstRows="12.5"';
  test.each([
    [plan('StatementType="DELETE"'), true],
    [plan('StatementType="SELECT INTO"'), true],
    [plan('StatementType="EXECUTE PROC"'), true],
    [plan(select) + plan(select), true],
    [plan(select, '<StmtCond/>'), true],
    [plan(select, '<RelOp PhysicalOp="Clustered Index Update"/>'), true],
    [plan(select, '<RelOp PhysicalOp="Table Merge"/>'), true],
    [plan(select, '<RelOp PhysicalOp="Remote Query"/>'), true],
    [plan(select, '<RelOp PhysicalOp="x"><RemoteScan/></RelOp>'), true],
    ['', true],
    ['<html>', true],
    [plan(select, '<RelOp PhysicalOp="Merge Join"/><RelOp PhysicalOp="Merge Interval"/>'), false],
    [plan('StatementType="SELECT WITHOUT QUERY"'), false],
    [
      plan(
        `${select} StatementText="DELETE FROM t &lt;StmtSimple StatementType=&quot;DELETE&quot;>"`,
      ),
      false,
    ],
  ])('is read: %j', (xml, writes) => {
    if (writes)
      expect(() => readPlan(xml)).toThrow(expect.objectContaining({ code: 'gate_refused' }));
    else expect(() => readPlan(xml)).not.toThrow();
  });

  test('says how much the statement would read', () => {
    const scans =
      '<RelOp PhysicalOp="Clustered Index Scan" EstimatedRowsRead="1000" EstimateRows="10" AvgRowSize="20"/><RelOp PhysicalOp="Index Seek" EstimateRows="5" AvgRowSize="100"/>';
    expect(readPlan(plan(select, scans))).toEqual({ rows: 12.5, bytes: 20_500 });
  });

  test.each([
    ['SELECT 1 AS a DELETE FROM canary', ['SELECT', 'DELETE']],
    ['WITH c AS (SELECT 1 AS a) SELECT a FROM c UNION ALL SELECT 2', ['SELECT']],
  ])('stands for the server that plans %j', (sql, types) => {
    // The server of these tests must know what it is to be asked.
    expect(statementTypes(sql).map((type) => type.replace(' WITHOUT QUERY', ''))).toEqual(types);
    expect(planText(['SELECT'], 1)).toContain('StatementType="SELECT"');
  });
});
