import { UserError } from '../../lib/error.ts';
import { isRecord } from '../../lib/json.ts';
import { readWordList } from '../../lib/word-list.ts';
import {
  asNode,
  identifierName,
  parseSql,
  type SqlNode,
  withAnalyzer,
} from '../../sql/analyzer.ts';
import type { Dialect } from '../../sql/dialect.ts';
import { openSealedAnswers, type SealedAnswers } from '../../store/ownership/sealed-answers.ts';
import { gateRefusal, sqlSyntaxError } from '../warehouse-error.ts';
import type { StatementFacts } from './policy.ts';
import { quoteSoftWords } from './quote-soft-words.ts';
import { shapeOf, withNames } from './statement-shape.ts';
import {
  collectStatementFacts,
  type NodeUse,
  otherStatementRefusal,
  recordsIn,
  requireOneStatement,
  type TreeReader,
} from './statement-facts.ts';

export interface AnalyzerRules {
  readonly dialect: Dialect;
  /** Kinds of nodes that may be the whole statement; they may also occur anywhere below. */
  readonly roots: readonly string[];
  /** True if a CTE sees itself without the word RECURSIVE. */
  readonly alwaysRecursive: boolean;
  /**
   * The name that an identifier of the parser (`{name, quoted}`) means. Set if letter case counts:
   * then names, also those of CTEs, are compared exactly. Default: as it is written.
   */
  readonly exactName?: (identifier: unknown) => string | undefined;
  /** True if GROUP BY may have ROLLUP (…), CUBE (…) and GROUPING SETS (…), which are no calls. */
  readonly hasGroupings?: boolean;
}

const allowedKinds = readWordList(new URL('analyzed-kinds.txt', import.meta.url));
const refusedClauses = ['into', 'locks', 'hint', 'hints', 'connect', 'for_xml', 'for_json'];

/** What the parser makes of a text without a statement, such as a misspelled `selec`. */
const expressionKinds: ReadonlySet<string> = new Set(
  'column identifier literal alias function paren not and or add sub mul div eq neq lt lte gt gte'.split(
    ' ',
  ),
);

/**
 * Statement facts by the general SQL analyzer, for engines and statements that the engine's own
 * parser does not cover. The analyzer can read a text differently from the engine, so another wall
 * must always stand behind it.
 */
export async function analyzeStatement(sql: string, rules: AnalyzerRules): Promise<StatementFacts> {
  const shape = rules.dialect.quote('a') === '"a"' ? shapeOf(sql) : undefined;
  const { sql: text, names } = shape ?? { sql, names: [] };
  const key = `${rules.dialect.name} ${rules.alwaysRecursive} ${rules.roots.join()}\n${text}`;
  const known = knownShapes.get(key) ?? readKeptFacts(key, rules);
  if (known !== undefined) return shape === undefined ? known : withNames(known, names);
  const facts = await analyzeText(text, rules).catch(() => undefined);
  // Errors quote the text, so they are those of the statement itself.
  if (facts === undefined) return analyzeText(sql, rules);
  if (shape !== undefined) {
    if (knownShapes.size >= mostShapes) knownShapes.clear();
    knownShapes.set(key, facts);
  }
  await keepFacts(key, facts, rules);
  return shape === undefined ? facts : withNames(facts, names);
}

/**
 * A scan asks each table of one structure the same question, and the analyzer takes longer to read
 * it than an engine to answer it.
 */
const knownShapes = new Map<string, StatementFacts>();
const mostShapes = 1000;

/**
 * A process that answers one question takes longer to load the analyzer than to do all the rest, so
 * the facts of its first statements are kept for the next one. One that runs on has it loaded.
 */
let keptFacts: SealedAnswers | undefined;
const mostKept = 5;
let keptCount = 0;

/** Facts depend on the statement and the code of ktx only, so any project's folder serves all. */
export function keepStatementFacts(cacheDir: string): void {
  keptFacts = openSealedAnswers(cacheDir, 'statements');
}

/** A function like `exactName` cannot be a part of the question. */
function readKeptFacts(key: string, { exactName }: AnalyzerRules): StatementFacts | undefined {
  // Signed: it is what `keepFacts` wrote.
  return exactName === undefined ? (keptFacts?.read(key) as StatementFacts | undefined) : undefined;
}

async function keepFacts(
  key: string,
  facts: StatementFacts,
  { exactName }: AnalyzerRules,
): Promise<void> {
  if (exactName !== undefined || keptCount >= mostKept) return;
  keptCount += 1;
  await keptFacts?.write(key, facts);
}

async function analyzeText(sql: string, rules: AnalyzerRules): Promise<StatementFacts> {
  const root = requireOneStatement(await parseTolerantly(sql, rules.dialect));
  const isExpression = expressionKinds.has(root.kind) || allowedKinds.has(root.kind);
  if (isExpression && !rules.roots.includes(root.kind))
    throw gateRefusal('statement', 'the text is an expression, not a statement.');
  if (!rules.roots.includes(root.kind))
    throw otherStatementRefusal(root.kind.replace(/_statement$/, '').replaceAll('_', ' '));
  // The parser drops a WITH before VALUES.
  if (root.kind === 'values' && !/^\s*values\b/i.test(sql))
    throw gateRefusal('parse', 'VALUES must come first in the statement.');
  return collectStatementFacts({ [root.kind]: root.body }, treeReader(rules));
}

/**
 * Parses the text as it is, or else with its soft keywords quoted. A syntax error is that of the
 * text itself.
 */
async function parseTolerantly(sql: string, dialect: Dialect): Promise<readonly SqlNode[]> {
  try {
    return await parseStatements(sql, dialect);
  } catch (error) {
    const text = quoteSoftWords(sql, dialect);
    if (!(error instanceof UserError) || text === sql) throw error;
    return parseStatements(text, dialect).catch(() => {
      throw error;
    });
  }
}

async function parseStatements(sql: string, dialect: Dialect): Promise<readonly SqlNode[]> {
  try {
    return await withAnalyzer(() => parseSql(sql, dialect));
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    throw error.code === 'sql_syntax'
      ? sqlSyntaxError(error.message, { hint: error.hint })
      : gateRefusal('parse', error.message, error.hint);
  }
}

function treeReader(rules: AnalyzerRules): TreeReader {
  const { roots, alwaysRecursive, exactName, hasGroupings = false } = rules;
  const nameOf = exactName ?? identifierName;
  const groupings = new WeakSet<SqlNode['body']>();
  return {
    withKey: 'with',
    readCtes: (clause) =>
      recordsIn(clause['ctes']).map((cte) => ({
        name: nameOf(cte['alias']),
        body: queryOf(cte),
        recursive: clause['recursive'] === true || alwaysRecursive,
      })),
    recursiveSeesLater: alwaysRecursive,
    foldName: (name) => (exactName === undefined ? name.toLowerCase() : name),
    readNode(value) {
      const node = asNode(value);
      if (node === undefined) return {};
      const { group_by: grouped, args } = node.body;
      const isGrouping = groupings.has(node.body);
      const elements = hasGroupings && isRecord(grouped) ? grouped['expressions'] : undefined;
      for (const body of groupingsIn(isGrouping ? args : elements)) groupings.add(body);
      if (isGrouping) return {};
      // Many functions have a node kind of their own, which is the function's name.
      return allowedKinds.has(node.kind) || roots.includes(node.kind)
        ? readAllowedNode(node, nameOf)
        : { function: node.kind };
    },
  };
}

/** ROLLUP and its like among the elements of a GROUP BY: the parser calls them functions. */
function groupingsIn(elements: unknown): readonly SqlNode['body'][] {
  return recordsIn(elements).flatMap((element) => {
    const node = asNode(element);
    if (node?.kind !== 'function' || node.body['quoted'] === true) return [];
    return /^(?:rollup|cube|grouping sets)$/i.test(String(node.body['name'])) ? [node.body] : [];
  });
}

/** The parser takes `(TABLE t)`, which reads a table, for a column with another name. */
function queryOf({ this: body }: Readonly<Record<string, unknown>>): unknown {
  if (asNode(body)?.kind !== 'alias') return body;
  throw gateRefusal('node', 'a WITH has no SELECT in it.', 'Write SELECT * FROM t for TABLE t.');
}

function readAllowedNode({ kind, body }: SqlNode, nameOf: typeof identifierName): NodeUse {
  requireAllowedClauses({ kind, body });
  if (kind === 'in' && body['is_field'] === true)
    throw gateRefusal('node', 'IN with a bare name is not allowed; write IN (SELECT …).');
  if (kind === 'function' || kind === 'aggregate_function') return { function: body['name'] };
  if (kind === 'pivot' || kind === 'unpivot') return readPivot(body);
  if (kind === 'subquery' && withoutWrapping(body['this'])?.kind === 'literal')
    throw textAsTableRefusal();
  if (kind !== 'table') return {};
  const { catalog, schema, name } = body;
  // It takes FROM (TABLE t) for a table of that name, with an alias.
  if (/^table$/i.test(identifierName(name) ?? '') && !(isRecord(name) && name['quoted'] === true))
    throw gateRefusal('node', 'it has TABLE where a name is expected.', 'Put a name in quotes.');
  return {
    table: {
      catalog: nameOf(catalog),
      schema: nameOf(schema),
      table: nameOf(name),
    },
  };
}

function requireAllowedClauses({ kind, body }: SqlNode): void {
  const clause = refusedClauses.find((name) => isFilled(body[name]));
  if (clause === undefined) return;
  throw gateRefusal(
    'node',
    `${clause.replaceAll('_', ' ')} in a ${kind} is not allowed.`,
    clause.startsWith('hint') ? 'Leave the hint out.' : undefined,
  );
}

/** The parser returns `PIVOT name` as a column, and `PIVOT 'file'` as a literal. */
function readPivot(body: SqlNode['body']): NodeUse {
  const node = withoutWrapping(body['this']);
  if (node?.kind === 'literal') throw textAsTableRefusal();
  if (node?.kind !== 'column') return {};
  const schema = identifierName(node.body['table']);
  const table = identifierName(node.body['name']);
  const ctes = isRecord(body['with'])
    ? recordsIn(body['with']['ctes']).map((cte) => identifierName(cte['alias']))
    : [];
  const isCte = schema === undefined && ctes.includes(table);
  return isCte ? {} : { table: { schema, table } };
}

/** The node inside comments and parentheses. */
function withoutWrapping(value: unknown): SqlNode | undefined {
  const node = asNode(value);
  const isWrapping = ['annotated', 'paren', 'alias', 'subquery'].includes(node?.kind ?? '');
  return isWrapping ? withoutWrapping(node?.body['this']) : node;
}

/** SQLite takes a text for the name of a table, DuckDB for that of a file. */
function textAsTableRefusal() {
  return gateRefusal('table', 'it has a text where a table is expected.');
}

function isFilled(value: unknown): boolean {
  return Array.isArray(value)
    ? value.length > 0
    : value !== undefined && value !== null && value !== false;
}
