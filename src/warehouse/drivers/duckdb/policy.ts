import type { UserError } from '../../../lib/error.ts';
import { isRecord } from '../../../lib/json.ts';
import { readWordList } from '../../../lib/word-list.ts';
import { lineAndColumn } from '../../../sql/analyzer.ts';
import { duckdb } from '../../../sql/dialects/duckdb.ts';
import { analyzeStatement } from '../../gate/analyze-statement.ts';
import { type GatePolicy, resolveIgnoringCase, type StatementFacts } from '../../gate/policy.ts';
import {
  collectStatementFacts,
  type NodeUse,
  recordsIn,
  requireOneStatement,
  type TreeNode,
  type TreeReader,
  unlistedNodeRefusal,
} from '../../gate/statement-facts.ts';
import { gateRefusal, sqlSyntaxError } from '../../warehouse-error.ts';
import { duckdbFunctions } from './functions.ts';
import type { DuckdbReader } from './reader.ts';

const allowedClasses = readWordList(new URL('expression-classes.txt', import.meta.url));
const allowedTypes = readWordList(new URL('node-types.txt', import.meta.url));
const pivotRules = { dialect: duckdb, roots: ['pivot', 'select'], alwaysRecursive: false };
const explainOption = '(?:ANALYZE|FORMAT\\s+\\w+)';
const explainPrefix = new RegExp(
  `^\\s*EXPLAIN\\b(?:\\s+ANALYZE\\b|\\s*\\(\\s*${explainOption}(?:\\s*,\\s*${explainOption})*\\s*\\))?`,
  'i',
);

/** The time limit for parsing a statement. */
const parseTimeoutMs = 10_000;

/**
 * Parses with DuckDB's own parser, through `json_serialize_sql`. That function does not take PIVOT
 * without an IN list, which goes through the general analyzer.
 */
export async function duckdbPolicy(reader: DuckdbReader, signal: AbortSignal): Promise<GatePolicy> {
  const { database, macros } = await readMacros(reader, signal);
  return {
    safeFunctions: duckdbFunctions.difference(macros),
    inspect: (sql) => inspect(reader, { sql: blankExplain(sql), macros }),
    resolvesTo: resolveIgnoringCase(duckdb, database),
  };
}

/**
 * The name of the database, and the macros that it defines, in lower case. Read once: nobody can
 * add a macro while the file is open. A macro may have the name of a built-in function or operator
 * and takes its place, so nothing here calls one.
 */
async function readMacros(reader: DuckdbReader, signal: AbortSignal) {
  const read = async (sql: string): Promise<string[]> =>
    ((await reader.catalogRows(sql, { signal })) as { name: string }[]).map(({ name }) => name);
  const [database = ''] = await read(
    'SELECT database_name AS name FROM system.main.duckdb_databases() WHERE NOT internal',
  );
  const macros = await read(
    'SELECT function_name AS name FROM system.main.duckdb_functions() WHERE NOT internal',
  );
  return { database, macros: new Set(macros.map((name) => name.toLowerCase())) };
}

/**
 * Replaces EXPLAIN with spaces, so that positions in errors stay right. What follows must be a
 * statement by itself.
 */
function blankExplain(sql: string): string {
  return sql.replace(explainPrefix, (prefix) => prefix.replaceAll(/\S/g, ' '));
}

interface InspectedStatement {
  readonly sql: string;
  readonly macros: ReadonlySet<string>;
}

async function inspect(
  reader: DuckdbReader,
  { sql, macros }: InspectedStatement,
): Promise<StatementFacts> {
  const hidden = macros.values().find((name) => calledBySyntax.has(name));
  if (hidden !== undefined) throw macroRefusal(hidden);
  const limits = { timeoutMs: parseTimeoutMs, signal: new AbortController().signal };
  const tree: unknown = JSON.parse(await reader.parse(sql, limits));
  if (!isRecord(tree)) throw gateRefusal('parse', 'DuckDB could not read the statement.');
  if (tree['error'] !== true) {
    const statement = requireOneStatement(recordsIn(tree['statements']));
    return collectStatementFacts(statement, createTreeReader(macros));
  }
  if (tree['error_type'] === 'parser')
    throw sqlSyntaxError(`DuckDB cannot parse it: ${parserMessage(tree, sql)}`);
  if (tree['error_type'] !== 'not implemented')
    throw gateRefusal('parse', `DuckDB cannot parse it: ${String(tree['error_message'])}`);
  if (!/\bPIVOT/i.test(sql)) throw gateRefusal('statement', 'it is not one SELECT.');
  const operator = macros.values().find(isOperator);
  if (operator !== undefined) throw macroRefusal(operator);
  return analyzeStatement(sql, pivotRules);
}

function parserMessage({ error_message: message, position }: TreeNode, sql: string): string {
  const { line, column } = lineAndColumn(sql, Number(position));
  return `${String(message)} (line ${line}, column ${column})`;
}

/**
 * Functions that syntax calls and no syntax tree names: `x[1]`, `x[1:2]`, `m['k']`, `x.y`,
 * `ARRAY[x]`, a table as a value, UNPIVOT.
 */
const calledBySyntax = new Set([
  'array_extract',
  'array_slice',
  'json_extract',
  'list_value',
  'map_extract_value',
  'struct_extract',
  'struct_pack',
  'unpivot_list',
]);

const isOperator = (name: string): boolean => !/^\w/u.test(name);
/** Beside operators. No syntax tree names them either. */
const calledBySummarize = new Set(
  'approx_count_distinct approx_quantile avg count count_star max min stddev'.split(' '),
);

function macroRefusal(name: string): UserError {
  return gateRefusal(
    'function',
    `the database defines a macro "${name}", which takes the place of what is built in.`,
  );
}

const createTreeReader = (macros: ReadonlySet<string>): TreeReader => ({
  withKey: 'cte_map',
  readCtes: (clause) =>
    recordsIn(clause['map']).map(({ key, value }) => ({
      name: key,
      body: value,
      recursive: JSON.stringify(value).includes('"type":"RECURSIVE_CTE_NODE"'),
    })),
  recursiveSeesLater: false,
  foldName: (name) => name.toLowerCase(),
  readNode: (node): NodeUse => {
    checkNode(node, macros);
    const name = node['is_operator'] === true ? undefined : node['function_name'];
    if (node['type'] === 'BASE_TABLE') return { function: name, table: baseTable(node) };
    const table = node['type'] === 'TABLE_FUNCTION' ? histogramTable(node['function']) : undefined;
    return table === undefined ? { function: name } : { function: name, table };
  },
});

function checkNode(node: TreeNode, macros: ReadonlySet<string>): void {
  const { class: expressionClass, type } = node;
  const isAllowed =
    typeof expressionClass === 'string'
      ? allowedClasses.has(expressionClass)
      : typeof type !== 'string' || allowedTypes.has(type) || type.endsWith('_TYPE_INFO');
  if (!isAllowed) throw unlistedNodeRefusal(String(expressionClass ?? type).toLowerCase());
  if (type === 'SHOW_REF' && !isRecord(node['query']))
    throw gateRefusal('node', 'SHOW is not allowed; `ktx search` lists tables and columns.');
  const macro = macros.values().find((name) => isOperator(name) || calledBySummarize.has(name));
  if (type === 'SHOW_REF' && macro !== undefined) throw macroRefusal(macro);
  const operator = node['is_operator'] === true ? node['function_name'] : undefined;
  if (typeof operator === 'string' && macros.has(operator.toLowerCase()))
    throw macroRefusal(operator);
  if (type === 'BASE_TABLE' && isRecord(node['at_clause']))
    throw gateRefusal('node', 'AT (time travel) is not allowed.');
}

function baseTable(node: TreeNode): NodeUse['table'] {
  return {
    catalog: node['catalog_name'],
    schema: node['schema_name'],
    table: node['table_name'],
  };
}

/**
 * `histogram(t, a)` in FROM takes the name of a table. The name never means a CTE, so it gets a
 * schema.
 */
function histogramTable(call: unknown): { schema: string; table: string } | undefined {
  if (!isRecord(call) || call['function_name'] !== 'histogram') return undefined;
  const [first = {}, ...rest] = recordsIn(call['children']);
  const source = rest.find(({ alias }) => alias === 'source') ?? first;
  const text = isRecord(source['value']) ? source['value']['value'] : undefined;
  const parts = Array.isArray(source['column_names']) ? source['column_names'] : [text];
  return { schema: duckdb.defaultSchema, table: parts.map(String).join('.') };
}
