import { sqlite } from '../../../sql/dialects/sqlite.ts';
import { analyzedFacts } from '../../analyzed-statement.ts';
import { type GatePolicy, sameNames } from '../../driver.ts';
import { refused } from '../../failure.ts';
import { sqliteFunctions } from './functions.ts';

const quotedOrRemark =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\[[^\]]*\]|--[^\n]*|\/\*[\s\S]*?\*\//g;
const roots = ['select', 'union', 'intersect', 'except', 'values', 'subquery'];

/** The general analyzer; behind it stands the authorizer, which sees each function and table by SQLite's own parser. */
export const sqlitePolicy: GatePolicy = {
  functions: sqliteFunctions,
  inspect: (sql) => {
    if (/[?@:$#][A-Za-z0-9_]/.test(sql.replace(quotedOrRemark, ' ')))
      throw refused('node', 'a parameter.', 'Write the value into the query.');
    return analyzedFacts(sql.replace(/^\s*EXPLAIN\s+(?:QUERY\s+PLAN\s+)?/i, ''), {
      dialect: sqlite,
      roots,
      alwaysRecursive: true,
    });
  },
  means: sameNames(sqlite),
};
