import { sqlite } from '../../../sql/dialects/sqlite.ts';
import { splitSqlParts } from '../../../sql/sql-parts.ts';
import { analyzeStatement } from '../../gate/analyze-statement.ts';
import { type GatePolicy, resolveIgnoringCase } from '../../gate/policy.ts';
import { gateRefusal } from '../../warehouse-error.ts';
import { sqliteFunctions } from './functions.ts';

const roots = ['select', 'union', 'intersect', 'except', 'values', 'subquery'];

/**
 * Uses the general analyzer. Behind it stands SQLite's authorizer, which sees each function and
 * table that SQLite's own parser found.
 */
export const sqlitePolicy: GatePolicy = {
  safeFunctions: sqliteFunctions,
  inspect: (sql) => {
    if (/[?@:$#][A-Za-z0-9_]/.test(codeOf(sql)))
      throw gateRefusal('node', 'it has a parameter.', 'Write the value into the query.');
    const query = sql.replace(/^\s*EXPLAIN\s+(?:QUERY\s+PLAN\s+)?/i, '');
    return analyzeStatement(query, {
      dialect: sqlite,
      roots,
      alwaysRecursive: true,
    });
  },
  resolvesTo: resolveIgnoringCase(sqlite),
};

/** The text without quotes and comments. */
function codeOf(sql: string): string {
  const parts = [...splitSqlParts(sql, { hasBrackets: true })];
  return parts.map(({ kind, text }) => (kind === 'code' ? text : ' ')).join('');
}
