import { isRecord } from '../../../lib/json.ts';
import { identifierName } from '../../../sql/analyzer.ts';
import type { Dialect } from '../../../sql/dialect.ts';
import { analyzeStatement } from '../../gate/analyze-statement.ts';
import type { GatePolicy } from '../../gate/policy.ts';
import { snowflakeFunctions } from './functions.ts';
import { normalizeForAnalyzer } from './statement-text.ts';

const roots = ['select', 'union', 'intersect', 'except', 'values', 'subquery'];
const explainPrefix = /^\s*EXPLAIN\b(?:\s+USING\s+(?:TABULAR|JSON|TEXT)\b)?(?=\s*[(\w])/i;

/**
 * What the analyzer calls functions and constructors of Snowflake. Snowflake itself has none of
 * these names: who calls one means a function of somebody.
 */
const renamed: ReadonlySet<string> = new Set(
  'array_func date_add date_diff date_sub day_of_month day_of_week day_of_year ends_with j_s_o_n_extract json_extract list_agg map_func starts_with str_position struct time_trunc timestamp_trunc to_days ts_or_ds_add week_of_year'.split(
    ' ',
  ),
);

/**
 * Uses the general analyzer on a text that the analyzer and Snowflake read alike. Behind it stand
 * the plan, in which every operation must read, and the grants of the role.
 */
export function snowflakePolicy(dialect: Dialect, database: string): GatePolicy {
  return {
    safeFunctions: snowflakeFunctions,
    inspect: async (sql) => {
      const text = normalizeForAnalyzer(sql).replace(explainPrefix, (prefix) =>
        prefix.replaceAll(/\S/g, ' '),
      );
      const rules = { dialect, roots, alwaysRecursive: false, exactName, hasGroupings: true };
      const { functions, tables } = await analyzeStatement(text, rules);
      const isOwn = (name: string): boolean => renamed.has(name) && !isCalled(name, text);
      const own = functions.filter((name) => !isOwn(name));
      return { tables, functions: [...own, ...misreadCalls(text)] };
    },
    resolvesTo: ({ catalog = database, schema = dialect.defaultSchema, table }, candidate) =>
      catalog === (candidate.catalog ?? database) &&
      schema === candidate.schema &&
      table === candidate.table,
  };
}

/** What Snowflake has no function of, though the list has the name for the analyzer's sake. */
const grammar = ['subscript', 'named_argument', 'like_all'];

/** Functions of people that the analyzer takes for safe ones: `subscript(1)`, `"abs"(1)`. */
function misreadCalls(text: string): readonly string[] {
  const quoted = [...text.matchAll(/"([^"]+)"\s*\(/g)]
    .map(([, name = '']) => name)
    .filter((name) => /[a-z]/.test(name) && snowflakeFunctions.has(name.toLowerCase()));
  const misread = [...grammar.filter((name) => isCalled(name, text)), ...quoted];
  return misread.map((name) => `"${name}"`);
}

function isCalled(name: string, text: string): boolean {
  return new RegExp(`(?<![\\p{L}\\p{N}_$])${name}"?\\s*\\(`, 'iu').test(text);
}

/** The statement that an EXPLAIN explains, or the statement itself; without `;` at its end. */
export function explainedStatement(sql: string): string {
  const text = normalizeForAnalyzer(sql);
  const prefix = explainPrefix.exec(text)?.[0] ?? '';
  return sql.slice(prefix.length).replace(/[;\s]{1,100}$/, '');
}

/** Unquoted names are folded to upper case. */
function exactName(identifier: unknown): string | undefined {
  const name = identifierName(identifier);
  const isQuoted = isRecord(identifier) && identifier['quoted'] === true;
  return isQuoted ? name : name?.toUpperCase();
}
