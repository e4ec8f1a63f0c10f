import { UserError } from '../../lib/error.ts';
import { isRecord } from '../../lib/json.ts';
import { identifierName, parseSql, walkSql } from '../../sql/analyzer.ts';
import type { Dialect } from '../../sql/dialect.ts';

interface SqlTable {
  readonly schema: string | undefined;
  readonly table: string;
}

/** Longer SQL is not parsed; the gate has the same limit. */
const longestSql = 99_000;

/**
 * The tables that a statement reads, without its own WITH names; undefined for SQL that ktx cannot
 * parse. Runs inside `withAnalyzer`.
 */
export function tablesOfSql(sql: string, dialect: Dialect): readonly SqlTable[] | undefined {
  if (sql.length > longestSql) return undefined;
  try {
    const nodes = [...walkSql(parseSql(sql, dialect))];
    const own = new Set(nodes.flatMap(({ body }) => withNames(body['with'])));
    return nodes.flatMap(({ kind, body }) => {
      const table = kind === 'table' ? identifierName(body['name']) : undefined;
      const schema = identifierName(body['schema']);
      if (table === undefined || (schema === undefined && own.has(table.toLowerCase()))) return [];
      return [{ table, schema }];
    });
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
}

function withNames(clause: unknown): string[] {
  const ctes = isRecord(clause) ? clause['ctes'] : undefined;
  if (!Array.isArray(ctes)) return [];
  return ctes.flatMap((cte: unknown) => {
    const name = isRecord(cte) ? identifierName(cte['alias']) : undefined;
    return name === undefined ? [] : [name.toLowerCase()];
  });
}
