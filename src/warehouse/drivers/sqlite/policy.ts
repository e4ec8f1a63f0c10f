import { sqlite } from '../../../sql/dialects/sqlite.ts';
import { analyzedFacts } from '../../analyzed-statement.ts';
import type { GatePolicy } from '../../driver.ts';
import { refused } from '../../failure.ts';
import { sqliteFunctions } from './functions.ts';

const rules = {
  dialect: sqlite,
  roots: new Set(['select', 'union', 'intersect', 'except', 'values', 'subquery']),
  kinds: new Set<string>(),
  alwaysRecursive: true,
};

/** The general analyzer; behind it stands the authorizer, which sees each function and table by SQLite's own parser. */
export const sqlitePolicy: GatePolicy = {
  functions: sqliteFunctions,
  inspect: (sql) => {
    if (/[?@:$#][A-Za-z0-9_]/.test(withoutQuoted(sql))) throw refused('node', 'a parameter.', 'Write the value into the query.');
    return analyzedFacts(sql.replace(/^\s*EXPLAIN\s+(?:QUERY\s+PLAN\s+)?/i, ''), rules);
  },
  means: (written, table) =>
    written.catalog === undefined &&
    (written.schema === undefined || written.schema.toLowerCase() === table.schema.toLowerCase()) &&
    written.table.toLowerCase() === table.table.toLowerCase(),
};

function withoutQuoted(sql: string): string {
  return sql.replace(/'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\[[^\]]*\]|--[^\n]*|\/\*[\s\S]*?\*\//g, ' ');
}
