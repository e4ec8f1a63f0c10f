import type { Dialect } from '../../../sql/dialect.ts';
import { analyzeStatement } from '../../gate/analyze-statement.ts';
import { type GatePolicy, resolveIgnoringCase, type UnresolvedTable } from '../../gate/policy.ts';
import { callsInText } from '../../gate/calls-in-text.ts';
import { mysqlFunctions } from './functions.ts';
import { normalizeForAnalyzer } from './normalize-for-analyzer.ts';

const roots = ['select', 'union', 'intersect', 'except', 'values', 'subquery'];
/** `TABLE t` is short for `SELECT * FROM t`. */
const tablePrefix = /^(\s*)TABLE\s+(?=[`\w])/i;
const explainPrefix = /^\s*EXPLAIN\b(?:\s+(?:EXTENDED|PARTITIONS|FORMAT\s*=\s*\w+))?(?=\s*[(\w])/i;

/**
 * Uses the general analyzer on a text that the analyzer and the server read alike. Behind it stand
 * the read-only transaction and the privileges of the login. A stored function with the name of a
 * safe function is not safe: a server that lacks the built-in one would call it.
 */
export function mysqlPolicy(dialect: Dialect, storedFunctions: readonly string[]): GatePolicy {
  return {
    safeFunctions: mysqlFunctions.difference(new Set(storedFunctions)),
    inspect: async (sql) => {
      const text = normalizeForAnalyzer(sql);
      const query = text
        .replace(explainPrefix, (prefix) => prefix.replaceAll(/\S/g, ' '))
        .replace(tablePrefix, '$1SELECT * FROM ');
      const facts = await analyzeStatement(query, { dialect, roots, alwaysRecursive: false });
      const called = callsInText(storedFunctions, text);
      return {
        functions: [...facts.functions, ...called],
        tables: facts.tables.filter((table) => !isDual(table)),
      };
    },
    resolvesTo: resolveIgnoringCase(dialect),
  };
}

/** `FROM dual` reads no table. */
function isDual({ schema, table }: UnresolvedTable): boolean {
  return schema === undefined && table.toLowerCase() === 'dual';
}
