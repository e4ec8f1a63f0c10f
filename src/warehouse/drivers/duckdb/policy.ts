import type { DuckDBConnection } from '@duckdb/node-api';
import { isRecord } from '../../../sql/analyzer.ts';
import { duckdb } from '../../../sql/dialects/duckdb.ts';
import { analyzedFacts } from '../../analyzed-statement.ts';
import type { GatePolicy, StatementFacts } from '../../driver.ts';
import { refused } from '../../failure.ts';
import { onlyOne, recordsOf, statementFacts, type TreeReading } from '../../statement-facts.ts';
import { duckdbFunctions } from './functions.ts';

/** Classes of expressions in DuckDB's serialized tree; PARAMETER is not among them. */
const classes = new Set(
  'BETWEEN CASE CAST COLLATE COLUMN_REF COMPARISON CONJUNCTION CONSTANT FUNCTION LAMBDA LAMBDA_REF OPERATOR POSITIONAL_REFERENCE STAR SUBQUERY WINDOW'.split(
    ' ',
  ),
);
/** Query nodes, table references, modifiers and orders. */
const types = new Set(
  `SELECT_NODE SET_OPERATION_NODE RECURSIVE_CTE_NODE CTE_NODE BASE_TABLE SUBQUERY JOIN TABLE_FUNCTION EXPRESSION_LIST EMPTY PIVOT SHOW_REF
   ORDER_MODIFIER LIMIT_MODIFIER LIMIT_PERCENT_MODIFIER DISTINCT_MODIFIER ORDER_DEFAULT ASCENDING DESCENDING`.split(/\s+/),
);
const pivotRules = {
  dialect: duckdb,
  roots: new Set(['pivot', 'select']),
  kinds: new Set(['pivot']),
  alwaysRecursive: false,
};
const explain = /^\s*EXPLAIN\s+(?:ANALYZE\s+)?(?:\([^)]*\)\s*)?/i;

/** DuckDB's own parser, by `json_serialize_sql`; PIVOT without its values, which that does not take, by the general analyzer. */
export function duckdbPolicy(parser: DuckDBConnection): GatePolicy {
  return {
    functions: duckdbFunctions,
    inspect: (sql) => inspect(parser, sql.replace(explain, '')),
    means: (written, table) =>
      written.catalog === undefined &&
      (written.schema ?? duckdb.defaultSchema).toLowerCase() === table.schema.toLowerCase() &&
      written.table.toLowerCase() === table.table.toLowerCase(),
  };
}

async function inspect(parser: DuckDBConnection, sql: string): Promise<StatementFacts> {
  const result = await parser.runAndReadAll('SELECT json_serialize_sql($1::VARCHAR)', [sql]);
  const tree: unknown = JSON.parse(String(result.getRows()[0]?.[0]));
  if (!isRecord(tree)) throw refused('parse', 'DuckDB could not read the statement.');
  if (tree['error'] !== true) return statementFacts(onlyOne(recordsOf(tree['statements'])), reading);
  if (tree['error_type'] !== 'not implemented') throw refused('parse', `DuckDB cannot parse it: ${String(tree['error_message'])}`);
  if (!/\bPIVOT/i.test(sql)) throw refused('statement', 'it is not one SELECT.');
  return analyzedFacts(sql, pivotRules);
}

const reading: TreeReading = {
  withKey: 'cte_map',
  ctes: (clause) =>
    recordsOf(clause['map']).map(({ key, value }) => ({
      name: key,
      body: value,
      recursive: JSON.stringify(value).includes('"type":"RECURSIVE_CTE_NODE"'),
    })),
  fold: (name) => name.toLowerCase(),
  check: (node, found) => {
    const { class: kind, type } = node;
    const isAllowed =
      typeof kind === 'string' ? classes.has(kind) : typeof type !== 'string' || types.has(type) || type.endsWith('_TYPE_INFO');
    if (!isAllowed)
      throw refused(
        'node',
        `${String(kind ?? type)
          .toLowerCase()
          .replaceAll('_', ' ')} is not on the list of what a query may contain.`,
      );
    if (typeof node['function_name'] === 'string' && node['is_operator'] !== true) found.function(node['function_name']);
    if (type === 'SHOW_REF' && !isRecord(node['query'])) throw refused('node', 'SHOW; `ktx search` lists tables and columns.');
    if (type !== 'BASE_TABLE') return;
    if (isRecord(node['at_clause'])) throw refused('node', 'AT (time travel).');
    found.table({ catalog: node['catalog_name'], schema: node['schema_name'], table: node['table_name'] });
  },
};
