import { describe, expect, test } from 'vitest';
import { clickhouse } from '../../src/sql/dialects/clickhouse.ts';
import { clickhousePolicy } from '../../src/warehouse/drivers/clickhouse/policy.ts';
import { checkStatementText } from '../../src/warehouse/drivers/clickhouse/statement-text.ts';
import { readSyntaxTree } from '../../src/warehouse/drivers/clickhouse/syntax-tree.ts';

/** A tree as ClickHouse 26.7 answers `EXPLAIN AST` for a statement with these expressions. */
const treeOf = (...lines: readonly string[]): string =>
  [
    'SelectWithUnionQuery (children 1)',
    ' ExpressionList (children 1)',
    '  SelectQuery (children 1)',
    '   ExpressionList (children 1)',
    ...lines.map((line) => `    ${line}`),
  ].join('\n');
const refused = (rule: string) =>
  expect.objectContaining({ code: 'gate_refused', details: { rule } });

describe('the text of a statement for ClickHouse', () => {
  test.each([
    ["SELECT 1 INTO OUTFILE '/tmp/x'", 'node'],
    ['SELECT 1 into /* x */ outfile "x"', 'node'],
    ['SELECT 1 FORMAT JSON', 'node'],
    ['SELECT 1 SETTINGS readonly = 0', 'node'],
    ['SELECT 1 SETTINGS "readonly" = 0', 'node'],
    ['SELECT 1; SELECT 2', 'statement'],
    ["SELECT 'a\\'; SELECT 2; --'; SELECT 3", 'statement'],
    ['SELECT 1 AS "x\nFunction upper"', 'parse'],
    ['SELECT 1 AS "x\\nFunction upper"', 'parse'],
    ['SELECT 1 AS "a (alias b)"', 'parse'],
    ['SELECT ‘a’', 'parse'],
  ])('is refused before the server sees it: %j', (sql, rule) => {
    expect(() => checkStatementText(sql)).toThrow(refused(rule));
  });

  test.each([
    "SELECT 'INTO OUTFILE', 'a; b', 'SETTINGS a = 1' FROM t;",
    'SELECT 1 -- ; SELECT 2',
    'SELECT 1 # FORMAT JSON',
    'SELECT $$ ; $$, $x$ ; $x$',
    "SELECT format('{}', a), settings, outfile FROM t",
  ])('passes: %j', (sql) => {
    expect(() => checkStatementText(sql)).not.toThrow();
  });

  test('tells what APPLY calls, which the tree does not', () => {
    const called = (sql: string) => [...checkStatementText(sql).called].toSorted();
    expect(called('SELECT * APPLY sleep FROM t')).toEqual(['sleep']);
    expect(called('SELECT * APPLY(`file`) FROM t')).toEqual(['apply', 'file']);
    expect(called('SELECT * APPLY(x -> file(x)) FROM t')).toContain('file');
    expect(called('SELECT "a"."b", file /* x */ (1)')).toEqual(['file']);
  });
});

describe('the tree of a statement for ClickHouse', () => {
  test('tells functions, tables and the names on the right of IN', () => {
    const tree = treeOf(
      'Function in (alias x) (children 1)',
      ' ExpressionList (children 2)',
      '  Identifier a',
      '  Identifier db.t2',
      'Function quantile (children 2)',
      'TableIdentifier db.t (alias y)',
    );
    expect(readSyntaxTree(tree)).toEqual({
      functions: ['in', 'quantile'],
      tables: ['db.t'],
      sets: ['db.t2'],
      hasCommonTables: false,
    });
  });

  test.each([
    ['InsertQuery   (children 2)\n Identifier t', 'statement'],
    ['ShowTables', 'statement'],
    [treeOf('Set'), 'node'],
    [treeOf('QueryParameter x:Int32'), 'node'],
    ['SelectWithUnionQuery (children 2)\n ExpressionList (children 1)\n Identifier JSON', 'node'],
    ['Explain EXPLAIN (children 1)\n DropQuery  t (children 1)', 'node'],
    [treeOf(...Array.from({ length: 201 }, () => 'WithElement (children 1)')), 'parse'],
  ])('is refused unless it only reads: %j', (tree, rule) => {
    expect(() => readSyntaxTree(tree)).toThrow(refused(rule));
  });

  test('lets EXPLAIN have its own settings', () => {
    const tree = `Explain EXPLAIN (children 2)\n Set\n${treeOf('Literal UInt64_1').replaceAll(/^/gm, ' ')}`;
    expect(readSyntaxTree(tree)).toMatchObject({ functions: [] });
  });
});

describe('the policy of ClickHouse', () => {
  /** The server of the test has these tables and functions, and answers one tree. */
  const inspect = (sql: string, tree: string, existing: readonly string[] = []) =>
    clickhousePolicy(
      { ...clickhouse, defaultSchema: 'db' },
      async (asked) =>
        asked.startsWith('EXPLAIN AST ')
          ? tree.split('\n').map((explain) => ({ explain }))
          : existing
              .map((table) => ({ schema: 'db', table }))
              .filter(({ table }) => asked.includes(`'${table}'`)),
      {
        known: new Set(['sum', 'array', 'arraymap', 'file', 'upper', 'sumforeach']),
        aggregates: new Set(['sum']),
        added: new Set(['arraymap', 'sumforeach']),
      },
    ).inspect(sql);

  test('knows aggregates by their combinators, and nothing else', async () => {
    const tree = treeOf('Function sumIf', 'Function SUMFOREACH', 'Function arrayMap');
    const { functions } = await inspect('SELECT 1', tree);
    expect(functions).toEqual(['sum', 'sumforeach', 'arraymap']);
  });

  test('counts a call that only the text has', async () => {
    const facts = await inspect('SELECT file(1), t (1)', treeOf('Literal UInt64_1'));
    expect(facts.functions).toEqual(['file']);
  });

  test('does not count functions as safe that somebody added', () => {
    const { safeFunctions } = clickhousePolicy(clickhouse, async () => [], {
      known: new Set(),
      aggregates: new Set(),
      added: new Set(['upper']),
    });
    expect([safeFunctions.has('upper'), safeFunctions.has('lower')]).toEqual([false, true]);
    for (const name of ['file', 'url', 's3', 'sleep', 'dictget', 'remote', 'getsetting'])
      expect(safeFunctions.has(name), name).toBe(false);
  });

  test('takes a name for a table wherever the database has one', async () => {
    const tree = treeOf('WithElement (children 1)', 'TableIdentifier c', 'TableIdentifier hidden');
    const { tables } = await inspect('SELECT 1', tree, ['hidden']);
    expect(tables).toEqual([{ table: 'hidden' }]);
  });

  test('refuses a name that two tables can have', async () => {
    const tree = treeOf('TableIdentifier a.b');
    const both = clickhousePolicy(
      { ...clickhouse, defaultSchema: 'db' },
      async (asked) =>
        asked.startsWith('EXPLAIN AST ')
          ? tree.split('\n').map((explain) => ({ explain }))
          : [
              { schema: 'db', table: 'a.b' },
              { schema: 'a', table: 'b' },
            ],
      { known: new Set(), aggregates: new Set(), added: new Set() },
    );
    await expect(both.inspect('SELECT 1')).rejects.toMatchObject({ details: { rule: 'table' } });
  });

  test('takes the settings that ktx itself writes, and no others', async () => {
    const tree = treeOf('Literal UInt64_1');
    await expect(inspect(`SELECT 1\n${clickhouse.settings}`, tree)).resolves.toMatchObject({});
    await expect(
      inspect(`SELECT 1\n${clickhouse.settings}, max_threads = 1`, tree),
    ).rejects.toMatchObject({ details: { rule: 'node' } });
  });
});
