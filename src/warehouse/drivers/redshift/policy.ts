import { UserError } from '../../../lib/error.ts';
import { isRecord } from '../../../lib/json.ts';
import type { Dialect } from '../../../sql/dialect.ts';
import { analyzeStatement } from '../../gate/analyze-statement.ts';
import { callsInText } from '../../gate/calls-in-text.ts';
import type { GatePolicy, StatementFacts } from '../../gate/policy.ts';
import {
  collectStatementFacts,
  type TreeNode,
  type TreeReader,
  unlistedNodeRefusal,
} from '../../gate/statement-facts.ts';
import { parseQuery, readingNodes, treeShape } from '../../postgres-wire/parse-query.ts';
import { unqualifiedSystemName } from '../../postgres-wire/parse-tree.ts';
import { redshiftFunctions } from './functions.ts';
import { normalizeText } from './statement-text.ts';

interface UserFunction {
  readonly schema: string;
  readonly name: string;
}

interface RedshiftNames {
  readonly database: string;
  /** The schemas in which a table without schema is looked up. */
  readonly searchPath: readonly string[];
  readonly systemNames: RegExp;
  /** Names of all functions of the server. */
  readonly serverFunctions: readonly string[];
  /** The functions that users made, read for each statement. */
  loadUserFunctions(): Promise<readonly UserFunction[]>;
}

const roots = ['select', 'union', 'intersect', 'except', 'values', 'subquery'];
const explainPrefix = /^\s*EXPLAIN\b(?:\s+VERBOSE\b)?(?=\s*[(\w])/i;

/**
 * The general analyzer reads every statement, and Postgres's parser each one that it can parse:
 * what either of them finds in it must be safe. Behind them stand the read-only transaction and the
 * privileges of the login.
 */
export function redshiftPolicy(dialect: Dialect, names: RedshiftNames): GatePolicy {
  const unsafeFunctions = new Set(names.serverFunctions).difference(redshiftFunctions);
  return {
    safeFunctions: redshiftFunctions,
    async inspect(sql) {
      const text = normalizeText(sql);
      const query = text.replace(explainPrefix, (prefix) => prefix.replaceAll(/\S/g, ' '));
      const rules = { dialect, roots, alwaysRecursive: false, hasGroupings: true };
      const analyzed = await analyzeStatement(query, rules);
      const parsed = await parseAsPostgres(query);
      const unlisted = [
        ...calledUserFunctions(await names.loadUserFunctions(), text),
        // Without Postgres's parser, nobody knows what stands before a dot.
        ...(parsed === undefined ? fieldsInText(unsafeFunctions, text) : []),
      ];
      // Postgres's parser names what the analyzer only calls so: `public.f(1)`.
      const analyzedFunctions = analyzed.functions
        .map(oneWord)
        .filter((name) => parsed === undefined || name !== 'method_call');
      return {
        functions: [...analyzedFunctions, ...(parsed?.functions ?? []), ...unlisted],
        tables: [...analyzed.tables, ...(parsed?.tables ?? [])],
      };
    },
    resolvesTo(name, table) {
      const isInDatabase = name.catalog === undefined || equal(name.catalog, names.database);
      if (!isInDatabase || !equal(name.table, table.table)) return false;
      if (name.schema !== undefined) return equal(name.schema, table.schema);
      // The system's tables and views come first.
      const isSystem = names.systemNames.test(name.table);
      return !isSystem && names.searchPath.some((schema) => equal(schema, table.schema));
    },
  };
}

function equal(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

/** The list of safe functions has no spaces: `approximate percentile_disc`. */
function oneWord(kind: string): string {
  return kind.replaceAll(' ', '_');
}

/**
 * The functions of users that a text may call. One that has the name of a safe function stands with
 * its schema.
 */
function calledUserFunctions(functions: readonly UserFunction[], text: string): string[] {
  const names = new Set(functions.map(({ name }) => name.toLowerCase()));
  const called = new Set([...callsInText([...names], text), ...fieldsInText(names, text)]);
  return functions.flatMap(({ schema, name }) => {
    const folded = name.toLowerCase();
    if (!called.has(folded)) return [];
    return [redshiftFunctions.has(folded) ? `${schema}.${folded}` : folded];
  });
}

/** The functions that stand behind a dot: `y.f` calls `f` if `y` is a value and no table. */
function fieldsInText(functions: ReadonlySet<string>, text: string): string[] {
  const fields = text.matchAll(/\.\s*(?:"((?:[^"]|"")*)"|([\p{L}_][\p{L}\p{N}_]*))/gu);
  return Array.from(fields, ([, quoted, plain]) => (quoted ?? plain ?? '').toLowerCase()).filter(
    (name) => functions.has(name),
  );
}

/** What Postgres's parser finds; undefined for a text of which only Redshift has the syntax. */
async function parseAsPostgres(query: string): Promise<StatementFacts | undefined> {
  try {
    return collectStatementFacts(await parseQuery(query), treeReader);
  } catch (error) {
    if (error instanceof UserError && error.code === 'sql_syntax') return undefined;
    throw error;
  }
}

const treeReader: TreeReader = {
  ...treeShape,
  foldName: (name) => name.toLowerCase(),
  readNode(node) {
    checkTags(node);
    const { FuncCall: call, RangeVar: table } = node;
    return {
      ...(isRecord(call) && { function: unqualifiedSystemName(call['funcname']) }),
      ...(isRecord(table) && {
        table: {
          catalog: table['catalogname'],
          schema: table['schemaname'],
          table: table['relname'],
        },
      }),
    };
  },
};

function checkTags(node: TreeNode): void {
  if (node['intoClause'] !== undefined) throw unlistedNodeRefusal('INTO');
  if (node['RangeFunction'] !== undefined) throw unlistedNodeRefusal('a function in FROM');
  const unlisted = Object.keys(node).find((tag) => /^[A-Z]/.test(tag) && !readingNodes.has(tag));
  if (unlisted !== undefined) throw unlistedNodeRefusal(unlisted);
}
