import { isRecord } from '../lib/json.ts';
import { UserError } from '../lib/error.ts';
import { readWordList } from '../lib/word-list.ts';
import { asNode, identifierName, parseSql, type SqlNode, withAnalyzer } from '../sql/analyzer.ts';
import type { Dialect } from '../sql/dialect.ts';
import type { StatementFacts } from './driver.ts';
import { refused, unparsed } from './failure.ts';
import { onlyOne, recordsOf, statementFacts, type TreeReading } from './statement-facts.ts';

export interface AnalyzedRules {
  readonly dialect: Dialect;
  /** Kinds of nodes that may stand at the root, and anywhere below. */
  readonly roots: readonly string[];
  /** True where a CTE sees itself without the word RECURSIVE. */
  readonly alwaysRecursive: boolean;
}

const sharedKinds = readWordList(new URL('analyzed-kinds.txt', import.meta.url));
const refusedParts = [
  'into',
  'locks',
  'hint',
  'hints',
  'connect',
  'lateral_views',
  'when',
  'for_xml',
  'for_json',
];

/** Statement facts by the general analyzer, for engines (or statements) that no own parser reads. Never the only wall. */
export async function analyzedFacts(sql: string, rules: AnalyzedRules): Promise<StatementFacts> {
  const statements = await withAnalyzer(() => parseSql(sql, rules.dialect)).catch(
    (error: unknown) => {
      if (error instanceof UserError && error.code === 'sql_syntax')
        throw unparsed(error.message, { hint: error.hint });
      throw error instanceof UserError ? refused('parse', error.message, error.hint) : error;
    },
  );
  const root = onlyOne(statements);
  if (!rules.roots.includes(root.kind))
    throw refused('statement', `it is a ${root.kind.replaceAll('_', ' ')} statement.`);
  // The parser drops a WITH before VALUES.
  if (root.kind === 'values' && !/^\s*values\b/i.test(sql))
    throw refused('parse', 'VALUES must stand first in the statement.');
  return statementFacts({ [root.kind]: root.body }, reading(rules));
}

function reading({ roots, alwaysRecursive }: AnalyzedRules): TreeReading {
  return {
    withKey: 'with',
    ctes: (clause) =>
      recordsOf(clause['ctes']).map((cte) => ({
        name: identifierName(cte['alias']),
        body: cte['this'],
        recursive: clause['recursive'] === true || alwaysRecursive,
      })),
    looksAhead: alwaysRecursive,
    fold: (name) => name.toLowerCase(),
    use(value) {
      const node = asNode(value);
      if (node === undefined) return {};
      // Many functions have a node kind of their own, which has their name.
      return sharedKinds.has(node.kind) || roots.includes(node.kind)
        ? useOf(node)
        : { function: node.kind };
    },
  };
}

function useOf({ kind, body }: SqlNode): ReturnType<TreeReading['use']> {
  const part = refusedParts.find((name) => isFilled(body[name]));
  if (part !== undefined) throw refused('node', `${part.replaceAll('_', ' ')} in a ${kind}.`);
  if (kind === 'in' && body['is_field'] === true)
    throw refused('node', 'IN with a bare name; write IN (SELECT …).');
  if (kind === 'function' || kind === 'aggregate_function') return { function: body['name'] };
  if (kind === 'pivot') return pivoted(body);
  if (kind !== 'table') return {};
  const { catalog, schema, name } = body;
  return {
    table: {
      catalog: identifierName(catalog),
      schema: identifierName(schema),
      table: identifierName(name),
    },
  };
}

/** The parser reads `PIVOT name` as a column, and `PIVOT 'file'` as text. */
function pivoted(body: SqlNode['body']): ReturnType<TreeReading['use']> {
  const node = asNode(body['this']);
  if (node?.kind === 'literal') throw refused('table', 'a file in place of a table.');
  if (node?.kind !== 'column') return {};
  const [schema, table] = [identifierName(node.body['table']), identifierName(node.body['name'])];
  const ownCtes = isRecord(body['with'])
    ? recordsOf(body['with']['ctes']).map((cte) => identifierName(cte['alias']))
    : [];
  return schema === undefined && ownCtes.includes(table) ? {} : { table: { schema, table } };
}

function isFilled(value: unknown): boolean {
  return Array.isArray(value)
    ? value.length > 0
    : value !== undefined && value !== null && value !== false;
}
