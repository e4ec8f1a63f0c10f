import { readFileSync } from 'node:fs';
import { parse as parsePostgres } from 'libpg-query';
import { beforeAll, describe, expect, test } from 'vitest';
import { identifierName, loadAnalyzer, requireAnalyzer, type SqlAnalyzer, spanOf, walkSql } from '../../src/sql/analyzer.ts';
import type { Dialect } from '../../src/sql/dialect.ts';
import { duckdb } from '../../src/sql/dialects/duckdb.ts';
import { postgres } from '../../src/sql/dialects/postgres.ts';

const corpus = JSON.parse(readFileSync(new URL('../conformance/legal-sql.json', import.meta.url), 'utf8')) as {
  readonly dialects: Readonly<Record<string, readonly (readonly [name: string, sql: string])[]>>;
};
/** What the analyzer is known not to parse; an entry that parses one day fails this file. */
const unparsed = new Map([['bigquery: pipe', 'pipe syntax (|>)']]);

let analyzer: SqlAnalyzer;
beforeAll(async () => {
  analyzer = await loadAnalyzer();
});

describe('the analyzer', () => {
  const cases = Object.entries(corpus.dialects).flatMap(([dialect, statements]) =>
    statements.map(([name, sql]) => ({ dialect, name, sql })),
  );

  test('reads the whole corpus', () => {
    expect(cases).toHaveLength(44);
  });

  test.each(cases)('parses $dialect: $name', ({ dialect, name, sql }) => {
    const parse = () => analyzer.parse(sql, { ...duckdb, analyzer: dialect === 'postgres' ? 'postgresql' : dialect });
    if (unparsed.has(`${dialect}: ${name}`)) expect(parse).toThrow(expect.objectContaining({ code: 'sql_syntax' }));
    else expect(parse().statements).toHaveLength(1);
  });

  test.each(cases.filter(({ dialect }) => dialect === 'postgres'))('has Postgres’s own parser agree on $name', async ({ sql }) => {
    expect((await parsePostgres(sql)).stmts).toHaveLength(1);
  });

  test.each([
    ['plain', 'SELECT amount FROM orders'],
    ['umlauts', "SELECT 'äöü' AS a, amount FROM orders"],
    ['characters beyond the basic plane', "SELECT '😀😀' AS a, amount FROM orders"],
    ['both, and quotes', `SELECT '😀ä' AS "ü😀", amount FROM "größe😀"`],
  ])('gives spans in UTF-16 offsets: %s', (_name, sql) => {
    const columns = [...walkSql(analyzer.parse(sql, postgres).statements)].filter(({ kind }) => kind === 'column');
    const texts = columns.map(({ body }) => {
      const span = spanOf(body);
      return span && sql.slice(span.start, span.end);
    });
    expect(texts).toEqual(['amount']);
  });

  test('walks into every part: CTEs, windows, filters, subqueries', () => {
    const sql =
      'WITH x AS (SELECT c1 FROM a) SELECT sum(c2) FILTER (WHERE c3) OVER (PARTITION BY c4 ORDER BY c5) FROM x WHERE c6 IN (SELECT c7 FROM b) ORDER BY c8';
    const names = [...walkSql(analyzer.parse(sql, postgres).statements)]
      .filter(({ kind }) => kind === 'column')
      .map(({ body }) => identifierName(body['name']));
    expect(names.toSorted((a = '', b = '') => a.localeCompare(b))).toEqual(['c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'c7', 'c8']);
  });

  test('says where a text cannot be parsed', () => {
    expect(() => analyzer.parse("SELECT '😀',\n  FROM FROM x", postgres)).toThrow(
      expect.objectContaining({ code: 'sql_syntax', details: { line: 2, column: 8, offset: 20 } }),
    );
  });

  test('refuses what is nested beyond the stack of the parser, and parses on', () => {
    const deep = `SELECT ${'('.repeat(5000)}1${')'.repeat(5000)}`;
    expect(() => analyzer.parse(deep, postgres)).toThrow(expect.objectContaining({ code: 'sql_too_deep' }));
    expect(analyzer.parse('SELECT 1', postgres).statements).toHaveLength(1);
  });

  test('has no statements in an empty text, two in two', () => {
    expect(analyzer.parse('', postgres).statements).toEqual([]);
    expect(analyzer.parse('SELECT 1; SELECT 2', postgres).statements.map(({ kind }) => kind)).toEqual(['select', 'select']);
  });

  test('keeps a result, by text and dialect', () => {
    const other: Dialect = { ...postgres, analyzer: 'sqlite' };
    expect(requireAnalyzer().parse('SELECT 42', postgres)).toBe(analyzer.parse('SELECT 42', postgres));
    expect(analyzer.parse('SELECT 42', other)).not.toBe(analyzer.parse('SELECT 42', postgres));
  });
});
