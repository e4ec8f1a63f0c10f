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
 * The tables that the SQL of a card reads, without its own WITH names; undefined for SQL that ktx
 * cannot parse. Parameters count as NULL, optional parts as left out. Runs inside `withAnalyzer`.
 */
export function tablesOfSql(sql: string, dialect: Dialect): readonly SqlTable[] | undefined {
  if (sql.length > longestSql) return undefined;
  try {
    const nodes = [...walkSql(parseSql(withoutTags(sql), dialect))];
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

/** `[[AND day > {{from}}]]` is optional in Metabase; `{{#7-orders}}` is the query of card 7. */
function withoutTags(sql: string): string {
  const required = replaceBetween(sql, ['[[', ']]'], () => '');
  return replaceBetween(required, ['{{', '}}'], (inside) =>
    inside.trim().startsWith('#') ? '(SELECT 1)' : 'NULL',
  );
}

/** Replaces each part between two marks, in linear time. */
function replaceBetween(
  text: string,
  [open, close]: readonly [string, string],
  replace: (inside: string) => string,
): string {
  return text
    .split(open)
    .map((part, index) => {
      const end = part.indexOf(close);
      if (index === 0 || end === -1) return part;
      return replace(part.slice(0, end)) + part.slice(end + close.length);
    })
    .join('');
}
