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
  // Read once: nobody can add a macro while the file is open.
  const [row] = await reader.catalogRows(
    `SELECT current_database() AS database, list(lower(function_name)) AS macros FROM duckdb_functions() WHERE NOT internal AND database_name = current_database()`,
    { signal },
  );
  const { database, macros } = row as { database: string; macros: string[] | null };
  return {
    safeFunctions: duckdbFunctions.difference(new Set(macros)),
    inspect: (sql) => inspect(reader, blankExplain(sql)),
    resolvesTo: resolveIgnoringCase(duckdb, database),
  };
}

/**
 * Replaces EXPLAIN with spaces, so that positions in errors stay right. What follows must be a
 * statement by itself.
 */
function blankExplain(sql: string): string {
  return sql.replace(explainPrefix, (prefix) => prefix.replaceAll(/\S/g, ' '));
}

async function inspect(reader: DuckdbReader, sql: string): Promise<StatementFacts> {
  const limits = { timeoutMs: parseTimeoutMs, signal: new AbortController().signal };
  const tree: unknown = JSON.parse(await reader.parse(sql, limits));
  if (!isRecord(tree)) throw gateRefusal('parse', 'DuckDB could not read the statement.');
  if (tree['error'] !== true) {
    const statement = requireOneStatement(recordsIn(tree['statements']));
    return collectStatementFacts(statement, treeReader);
  }
  if (tree['error_type'] === 'parser')
    throw sqlSyntaxError(`DuckDB cannot parse it: ${parserMessage(tree, sql)}`);
  if (tree['error_type'] !== 'not implemented')
    throw gateRefusal('parse', `DuckDB cannot parse it: ${String(tree['error_message'])}`);
  if (!/\bPIVOT/i.test(sql)) throw gateRefusal('statement', 'it is not one SELECT.');
  return analyzeStatement(sql, pivotRules);
}

function parserMessage({ error_message: message, position }: TreeNode, sql: string): string {
  const { line, column } = lineAndColumn(sql, Number(position));
  return `${String(message)} (line ${line}, column ${column})`;
}

const treeReader: TreeReader = {
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
    checkNode(node);
    const name = node['is_operator'] === true ? undefined : node['function_name'];
    if (node['type'] === 'BASE_TABLE') return { function: name, table: baseTable(node) };
    const table = node['type'] === 'TABLE_FUNCTION' ? histogramTable(node['function']) : undefined;
    return table === undefined ? { function: name } : { function: name, table };
  },
};

function checkNode(node: TreeNode): void {
  const { class: expressionClass, type } = node;
  const isAllowed =
    typeof expressionClass === 'string'
      ? allowedClasses.has(expressionClass)
      : typeof type !== 'string' || allowedTypes.has(type) || type.endsWith('_TYPE_INFO');
  if (!isAllowed) throw unlistedNodeRefusal(String(expressionClass ?? type).toLowerCase());
  if (type === 'SHOW_REF' && !isRecord(node['query']))
    throw gateRefusal('node', 'SHOW is not allowed; `ktx search` lists tables and columns.');
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
