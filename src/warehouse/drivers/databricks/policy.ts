import type { Dialect } from '../../../sql/dialect.ts';
import { analyzeStatement } from '../../gate/analyze-statement.ts';
import { callsInText } from '../../gate/calls-in-text.ts';
import type { GatePolicy } from '../../gate/policy.ts';
import { resolveInCatalog } from '../../gate/resolve-in-catalog.ts';
import { databricksFunctions } from './functions.ts';
import { normalizeForAnalyzer } from './statement-text.ts';

const roots = ['select', 'union', 'intersect', 'except', 'values', 'subquery'];
const tablePrefix = /^(\s*)TABLE\s+(?=[`\w])/i;
/**
 * What the analyzer calls functions and operators of Databricks. Databricks itself has none of
 * these names: who calls one means a function of somebody.
 */
const renamed =
  'array_func at_time_zone bitwise_and_agg bitwise_or_agg day_of_month day_of_week day_of_year ends_with j_s_o_n_extract list_agg logical_and logical_or starts_with subscript week_of_year'.split(
    ' ',
  );
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
      const rules = { dialect, roots, alwaysRecursive: false, hasGroupings: true };
      const facts = await analyzeStatement(query, rules);
      const misread = callsInText(renamed, query).map((name) => `\`${name}\``);
      return { ...facts, functions: [...facts.functions, ...misread] };
    },
    resolvesTo: resolveInCatalog(dialect, catalog),
  };
}

/** The query that an EXPLAIN would explain, or the statement itself. */
export function explainedQuery(sql: string): string {
  const [{ length } = ''] = explainPrefix.exec(normalizeForAnalyzer(sql)) ?? [];
  return sql.slice(length);
}
