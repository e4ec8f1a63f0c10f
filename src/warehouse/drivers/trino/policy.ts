import type { Dialect } from '../../../sql/dialect.ts';
import { analyzeStatement } from '../../gate/analyze-statement.ts';
import type { GatePolicy } from '../../gate/policy.ts';
import { resolveInCatalog } from '../../gate/resolve-in-catalog.ts';
import { trinoFunctions } from './functions.ts';
import { normalizeForAnalyzer, withoutLastSemicolon } from './statement-text.ts';

const roots = ['select', 'union', 'intersect', 'except', 'values', 'subquery'];
/** `TABLE t` is short for `SELECT * FROM t`. */
const tablePrefix = /^(\s*)TABLE\s+(?=["\w])/i;
const explainOption =
  '(?:TYPE\\s+(?:LOGICAL|DISTRIBUTED|VALIDATE|IO)|FORMAT\\s+(?:TEXT|GRAPHVIZ|JSON))';
/** EXPLAIN runs nothing; EXPLAIN ANALYZE does, and the analyzer then finds no query. */
const explainPrefix = new RegExp(
  `^\\s*EXPLAIN(?:\\s*\\(\\s*${explainOption}(?:\\s*,\\s*${explainOption})*\\s*\\))?(?=\\s*[(\\w])`,
  'i',
);

/** The query that an EXPLAIN would explain, or the statement itself; of the same length. */
export function explainedQuery(sql: string): string {
  const [{ length } = ''] = explainPrefix.exec(normalizeForAnalyzer(sql)) ?? [];
  return `${' '.repeat(length)}${sql.slice(length)}`;
}

/**
 * Uses the general analyzer on a text that the analyzer and the server read alike. Behind it stand
 * the read-only transaction and the server's own reading (`EXPLAIN (TYPE IO)`).
 */
export function trinoPolicy(dialect: Dialect, catalog: string): GatePolicy {
  return {
    safeFunctions: trinoFunctions,
    inspect: async (sql) => {
      const text = normalizeForAnalyzer(withoutLastSemicolon(sql));
      const query = explainedQuery(text).replace(tablePrefix, '$1SELECT * FROM ');
      return analyzeStatement(query, {
        dialect,
        roots,
        alwaysRecursive: false,
        hasGroupings: true,
      });
    },
    resolvesTo: resolveInCatalog(dialect, catalog),
  };
}
