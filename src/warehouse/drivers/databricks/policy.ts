import type { Dialect } from '../../../sql/dialect.ts';
import { analyzeStatement } from '../../gate/analyze-statement.ts';
import type { GatePolicy } from '../../gate/policy.ts';
import { resolveInCatalog } from '../../gate/resolve-in-catalog.ts';
import { databricksFunctions } from './functions.ts';
import { normalizeForAnalyzer } from './statement-text.ts';

const roots = ['select', 'union', 'intersect', 'except', 'values', 'subquery'];
const tablePrefix = /^(\s*)TABLE\s+(?=[`\w])/i;
/** EXPLAIN runs nothing. */
const explainPrefix = /^\s*EXPLAIN\b(?:\s+(?:EXTENDED|CODEGEN|COST|FORMATTED)\b)?(?=\s*[(\w])/i;

/**
 * Uses the general analyzer on a text that the analyzer and the engine read alike. Behind it stand
 * the grants of the login, or the plan of the statement.
 */
export function databricksPolicy(dialect: Dialect, catalog: string): GatePolicy {
  return {
    safeFunctions: databricksFunctions,
    inspect: async (sql) => {
      const query = normalizeForAnalyzer(sql)
        .replace(explainPrefix, (prefix) => prefix.replaceAll(/\S/g, ' '))
        .replace(tablePrefix, '$1SELECT * FROM ');
      const facts = await analyzeStatement(query, { dialect, roots, alwaysRecursive: false });
      // The analyzer calls the words of a GROUP BY a function.
      return { ...facts, functions: facts.functions.filter((name) => name !== 'grouping sets') };
    },
    resolvesTo: resolveInCatalog(dialect, catalog),
  };
}

/** The query that an EXPLAIN would explain, or the statement itself. */
export function explainedQuery(sql: string): string {
  const [{ length } = ''] = explainPrefix.exec(normalizeForAnalyzer(sql)) ?? [];
  return sql.slice(length);
}
