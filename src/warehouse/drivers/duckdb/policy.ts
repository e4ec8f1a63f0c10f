import type { DuckDBConnection } from '@duckdb/node-api';
import { isRecord } from '../../../lib/json.ts';
import { readWordList } from '../../../lib/word-list.ts';
import { lineAndColumn } from '../../../sql/analyzer.ts';
import { duckdb } from '../../../sql/dialects/duckdb.ts';
import { analyzedFacts } from '../../analyzed-statement.ts';
import { type GatePolicy, sameNames, type StatementFacts } from '../../driver.ts';
import { refused, unparsed } from '../../failure.ts';
import {
  notListed,
  onlyOne,
  recordsOf,
  statementFacts,
  type TreeReading,
} from '../../statement-facts.ts';
import { duckdbFunctions } from './functions.ts';

const classes = readWordList(new URL('expression-classes.txt', import.meta.url));
const types = readWordList(new URL('node-types.txt', import.meta.url));
const pivotRules = { dialect: duckdb, roots: ['pivot', 'select'], alwaysRecursive: false };
/** What follows must be a statement by itself, and is what the gate reads. */
const option = '(?:ANALYZE|FORMAT\\s+\\w+)';
const explain = new RegExp(
  `^\\s*EXPLAIN\\b(?:\\s+ANALYZE\\b|\\s*\\(\\s*${option}(?:\\s*,\\s*${option})*\\s*\\))?`,
  'i',
);

/** DuckDB's own parser, by `json_serialize_sql`; PIVOT without its values, which that does not take, by the general analyzer. */
export async function duckdbPolicy(parser: DuckDBConnection): Promise<GatePolicy> {
  // Nobody can add a macro while the file is open.
  const reader = await parser.runAndReadAll(
    `SELECT current_database(), list(lower(function_name)) FROM duckdb_functions() WHERE NOT internal AND database_name = current_database()`,
  );
  const [database, macros] = reader.getRowsJson()[0] as [string, string[] | null];
  return {
    functions: duckdbFunctions.difference(new Set(macros)),
    inspect: (sql) =>
      inspect(
        parser,
        sql.replace(explain, (words) => words.replaceAll(/\S/g, ' ')),
      ),
    means: sameNames(duckdb, database),
  };
}

async function inspect(parser: DuckDBConnection, sql: string): Promise<StatementFacts> {
  const result = await parser.runAndReadAll('SELECT json_serialize_sql($1::VARCHAR)', [sql]);
  const tree: unknown = JSON.parse(String(result.getRows()[0]?.[0]));
  if (!isRecord(tree)) throw refused('parse', 'DuckDB could not read the statement.');
  if (tree['error'] !== true)
    return statementFacts(onlyOne(recordsOf(tree['statements'])), reading);
  if (tree['error_type'] === 'parser')
    throw unparsed(`DuckDB cannot parse it: ${messageIn(tree, sql)}`);
  if (tree['error_type'] !== 'not implemented')
    throw refused('parse', `DuckDB cannot parse it: ${String(tree['error_message'])}`);
  if (!/\bPIVOT/i.test(sql)) throw refused('statement', 'it is not one SELECT.');
  return analyzedFacts(sql, pivotRules);
}

function messageIn(
  { error_message: message, position }: Readonly<Record<string, unknown>>,
  sql: string,
): string {
  const { line, column } = lineAndColumn(sql, Number(position));
  return `${String(message)} (line ${line}, column ${column})`;
}

const reading: TreeReading = {
  withKey: 'cte_map',
  ctes: (clause) =>
    recordsOf(clause['map']).map(({ key, value }) => ({
      name: key,
      body: value,
      recursive: JSON.stringify(value).includes('"type":"RECURSIVE_CTE_NODE"'),
    })),
  looksAhead: false,
  fold: (name) => name.toLowerCase(),
  use: (node) => {
    const { class: kind, type, function_name: called } = node;
    const isListed =
      typeof kind === 'string'
        ? classes.has(kind)
        : typeof type !== 'string' || types.has(type) || type.endsWith('_TYPE_INFO');
    if (!isListed) throw notListed(String(kind ?? type).toLowerCase());
    if (type === 'SHOW_REF' && !isRecord(node['query']))
      throw refused('node', 'SHOW; `ktx search` lists tables and columns.');
    if (type === 'BASE_TABLE' && isRecord(node['at_clause']))
      throw refused('node', 'AT (time travel).');
    const summarized = type === 'TABLE_FUNCTION' ? summarizedTable(node['function']) : undefined;
    return {
      function: node['is_operator'] === true ? undefined : called,
      ...(summarized !== undefined && { table: summarized }),
      ...(type === 'BASE_TABLE' && {
        table: {
          catalog: node['catalog_name'],
          schema: node['schema_name'],
          table: node['table_name'],
        },
      }),
    };
  },
};

/** `histogram(t, a)` in FROM takes a table by its name; no CTE is meant. */
function summarizedTable(call: unknown): { schema: string; table: string } | undefined {
  if (!isRecord(call) || call['function_name'] !== 'histogram') return undefined;
  const [first = {}, ...others] = recordsOf(call['children']);
  const name = others.find(({ alias }) => alias === 'source') ?? first;
  const value = isRecord(name['value']) ? name['value']['value'] : undefined;
  const parts = Array.isArray(name['column_names']) ? name['column_names'] : [value];
  return { schema: duckdb.defaultSchema, table: parts.map(String).join('.') };
}
