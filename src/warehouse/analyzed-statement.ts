import { messageOf, UserError } from '../lib/error.ts';
import { asNode, identifierName, loadAnalyzer, type SqlNode } from '../sql/analyzer.ts';
import type { Dialect } from '../sql/dialect.ts';
import type { StatementFacts } from './driver.ts';
import { refused } from './failure.ts';
import { type Found, onlyOne, recordsOf, statementFacts, type TreeReading } from './statement-facts.ts';

export interface AnalyzedRules {
  readonly dialect: Dialect;
  /** Statement kinds of the analyzer. */
  readonly roots: ReadonlySet<string>;
  /** Node kinds beyond those that every dialect shares. */
  readonly kinds: ReadonlySet<string>;
  /** True where a CTE sees itself without the word RECURSIVE. */
  readonly alwaysRecursive: boolean;
}

/** Node kinds that only compute; a parameter, variable, hint or sequence is none of them. */
const sharedKinds = words(`
  add aggregate_function alias all and annotated any any_value array avg between bitwise_and bitwise_left_shift bitwise_not
  bitwise_or bitwise_right_shift bitwise_xor boolean case cast collation column concat count cte div eq except exists
  Following Preceding filter function glob group_by grouping grouping_sets gt gte i_like identifier in int_div intersect
  interval is is_false is_null is_true joined_table lambda like limit literal lt lte mod mul neg neq not null
  null_safe_eq null_safe_neq offset or order_by ordered paren regexp_like select star sub subquery table table_alias
  trim try_cast tuple union values var where window window_function window_spec with within_group

  abs acos asin atan atan2 ceil coalesce cos cume_dist current_date current_time current_timestamp degrees dense_rank exp
  extract first_value floor group_concat if_func j_s_o_n_array json_array_length json_extract json_extract_scalar
  json_object json_type lag last_value lead left length ln log lower max median min mod_func n_tile nth_value nullif
  percent_rank percentile_cont percentile_disc pi power radians rand random rank replace right round row_number sign sin
  sqrt stddev stddev_pop stddev_samp str_position string_agg substring sum tan typeof upper var_pop var_samp variance
`);

/** Statement facts by the general analyzer, for engines (or statements) that no own parser reads. Never the only wall. */
export async function analyzedFacts(sql: string, rules: AnalyzedRules): Promise<StatementFacts> {
  const analyzer = await loadAnalyzer();
  const root = onlyOne(parsed(() => analyzer.parse(sql, rules.dialect).statements));
  if (!rules.roots.has(root.kind)) throw refused('statement', `it is a ${root.kind.replaceAll('_', ' ')} statement.`);
  // The parser drops a WITH before VALUES.
  if (root.kind === 'values' && !/^\s*values\b/i.test(sql)) throw refused('parse', 'VALUES must stand first in the statement.');
  return statementFacts({ [root.kind]: root.body }, reading(rules));
}

function parsed<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw refused('parse', messageOf(error), error instanceof UserError ? error.hint : undefined);
  }
}

function reading(rules: AnalyzedRules): TreeReading {
  return {
    withKey: 'with',
    ctes: (clause) =>
      recordsOf(clause['ctes']).map((cte) => ({
        name: identifierName(cte['alias']),
        body: cte['this'],
        recursive: clause['recursive'] === true || rules.alwaysRecursive,
      })),
    fold: (name) => name.toLowerCase(),
    check: (value, found) => {
      const node = asNode(value);
      if (node !== undefined) check(node, rules, found);
    },
  };
}

function check({ kind, body }: SqlNode, rules: AnalyzedRules, found: Found): void {
  if (!sharedKinds.has(kind) && !rules.kinds.has(kind))
    throw refused('node', `${kind.replaceAll('_', ' ')} is not on the list of what a query may contain.`);
  for (const part of ['into', 'locks', 'hint', 'hints', 'connect', 'lateral_views', 'when', 'for_xml', 'for_json']) {
    if (isFilled(body[part])) throw refused('node', `${part.replaceAll('_', ' ')} in a ${kind}.`);
  }
  if (kind === 'in' && body['is_field'] === true) throw refused('node', 'IN with a bare name; write IN (SELECT …).');
  if ((kind === 'function' || kind === 'aggregate_function') && typeof body['name'] === 'string') found.function(body['name']);
  if (kind !== 'table') return;
  const { catalog, schema, name } = body;
  found.table({ catalog: identifierName(catalog), schema: identifierName(schema), table: identifierName(name) });
}

function isFilled(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== null && value !== false;
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/));
}
