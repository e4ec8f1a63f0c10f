import { readFileSync } from 'node:fs';
import { parse as parsePostgres } from 'libpg-query';
import { beforeAll, describe, expect, test } from 'vitest';
import { identifierName, loadAnalyzer, parseSql, walkSql } from '../../src/sql/analyzer.ts';
import { duckdb } from '../../src/sql/dialects/duckdb.ts';
import { postgres } from '../../src/sql/dialects/postgres.ts';
import { parseFragment } from '../../src/sql/fragment.ts';

const corpus = JSON.parse(
  readFileSync(new URL('../conformance/legal-sql.json', import.meta.url), 'utf8'),
) as {
  readonly dialects: Readonly<Record<string, readonly (readonly [name: string, sql: string])[]>>;
};
/** What the analyzer is known not to parse; an entry that parses one day fails this file. */
const unparsed = new Map([['bigquery: pipe', 'pipe syntax (|>)']]);

beforeAll(async () => {
  await loadAnalyzer();
});

describe('the analyzer', () => {
  const cases = Object.entries(corpus.dialects).flatMap(([dialect, statements]) =>
    statements.map(([name, sql]) => ({ dialect, name, sql })),
  );

  test('reads the whole corpus', () => {
    expect(cases).toHaveLength(44);
  });

  test.each(cases)('parses $dialect: $name', ({ dialect, name, sql }) => {
    const parse = () =>
      parseSql(sql, { ...duckdb, analyzer: dialect === 'postgres' ? 'postgresql' : dialect });
    if (unparsed.has(`${dialect}: ${name}`))
      expect(parse).toThrow(expect.objectContaining({ code: 'sql_syntax' }));
    else expect(parse()).toHaveLength(1);
  });

  test.each(cases.filter(({ dialect }) => dialect === 'postgres'))(
    'has Postgres’s own parser agree on $name',
    async ({ sql }) => {
      expect((await parsePostgres(sql)).stmts).toHaveLength(1);
    },
  );

  test.each([
    ['plain', 'coalesce(amount, 1)'],
    ['umlauts', "concat('äöü', amount)"],
    ['characters beyond the basic plane', "concat('😀😀', amount)"],
    ['both, and quotes', `concat('😀ä', "größe😀", amount, '😀')`],
  ])('gives the places of names in UTF-16 offsets: %s', (_name, text) => {
    const { references } = parseFragment(text, { dialect: postgres, origin: 'model' });
    const last = references.at(-1);
    expect(last && text.slice(last.start, last.end)).toBe('amount');
  });

  test('walks into every part: CTEs, windows, filters, subqueries', () => {
    const sql =
      'WITH x AS (SELECT c1 FROM a) SELECT sum(c2) FILTER (WHERE c3) OVER (PARTITION BY c4 ORDER BY c5) FROM x WHERE c6 IN (SELECT c7 FROM b) ORDER BY c8';
    const names = [...walkSql(parseSql(sql, postgres))]
      .filter(({ kind }) => kind === 'column')
      .map(({ body }) => identifierName(body['name']));
    expect(names.toSorted((a = '', b = '') => a.localeCompare(b))).toEqual([
      'c1',
      'c2',
      'c3',
      'c4',
      'c5',
      'c6',
      'c7',
      'c8',
    ]);
  });

  test('says where a text cannot be parsed', () => {
    expect(() => parseSql("SELECT '😀',\n  FROM FROM x", postgres)).toThrow(
      expect.objectContaining({ code: 'sql_syntax', details: { line: 2, column: 8 } }),
    );
  });

  test('refuses what is nested beyond the stack of the parser, and parses on', () => {
    const deep = `SELECT ${'('.repeat(5000)}1${')'.repeat(5000)}`;
    expect(() => parseSql(deep, postgres)).toThrow(
      expect.objectContaining({ code: 'sql_too_deep' }),
    );
    expect(parseSql('SELECT 1', postgres)).toHaveLength(1);
  });

  test('has no statements in an empty text, two in two', () => {
    expect(parseSql('', postgres)).toEqual([]);
    expect(parseSql('SELECT 1; SELECT 2', postgres).map(({ kind }) => kind)).toEqual([
      'select',
      'select',
    ]);
  });
});
