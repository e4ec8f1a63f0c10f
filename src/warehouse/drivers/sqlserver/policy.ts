import type { Dialect } from '../../../sql/dialect.ts';
import { analyzeStatement } from '../../gate/analyze-statement.ts';
import { callsInText } from '../../gate/calls-in-text.ts';
import type { GatePolicy, UnresolvedTable } from '../../gate/policy.ts';
import { resolveInCatalog } from '../../gate/resolve-in-catalog.ts';
import { sqlserverFunctions } from './functions.ts';
import { readStatementText } from './statement-text.ts';

const roots = ['select', 'union', 'intersect', 'except', 'subquery'];
/**
 * What the analyzer calls functions and operators of the engine. The engine itself has none of
 * these names: who calls one means a function of somebody.
 */
const renamed = [
  'any',
  'at_time_zone',
  'data_type',
  'date_part',
  'ceil',
  'length',
  'ln',
  'open_j_s_o_n',
  'open_j_s_o_n_column_def',
];
/** `= ANY (…)` is no call. */
const words = /(?<=[<>=]\s*)ANY(?=\s*\()/gi;

/** `crm..orders`: in another database the login may have another schema of its own. */
const isSchemaOfLogin = ({ catalog, schema }: UnresolvedTable): boolean =>
  catalog !== undefined && (schema === undefined || schema === '');

/**
 * Uses the general analyzer on a text that the analyzer and the engine read alike. Behind it stand
 * the permissions of the login, the plan of the statement, and a transaction that is rolled back.
 */
export function sqlserverPolicy(dialect: Dialect, database: string): GatePolicy {
  const resolve = resolveInCatalog(dialect, database);
  return {
    safeFunctions: sqlserverFunctions,
    inspect: async (sql) => {
      const { normalized } = readStatementText(sql);
      const rules = { dialect, roots, alwaysRecursive: true, hasGroupings: true };
      const facts = await analyzeStatement(normalized, rules);
      const misread = callsInText(
        renamed,
        normalized.replaceAll(words, ' ').replaceAll(/[[\]]/g, '"'),
      );
      return { ...facts, functions: [...facts.functions, ...misread.map((name) => `\`${name}\``)] };
    },
    resolvesTo: (name, table) => !isSchemaOfLogin(name) && resolve(name, table),
  };
}
