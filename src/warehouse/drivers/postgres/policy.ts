import { hasSqlDetails, parse } from 'libpg-query';
import { errorMessage } from '../../../lib/error.ts';
import { isRecord } from '../../../lib/json.ts';
import { readWordList } from '../../../lib/word-list.ts';
import { lineAndColumn } from '../../../sql/analyzer.ts';
import type { GatePolicy, StatementFacts } from '../../gate/policy.ts';
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
import type { SystemObjects, UserObjects } from './database-objects.ts';
import { columnsOfCtes, fromItemsOf, type FromItems } from './from-items.ts';
import { postgresFunctions } from './functions.ts';
import { namesIn, operatorsOf, unqualifiedSystemName } from './parse-tree.ts';

const allowedNodes = readWordList(new URL('nodes.txt', import.meta.url));
const systemTypes = readWordList(new URL('types.txt', import.meta.url));

/** Parses with Postgres's own parser. The user objects are loaded for each statement, since new ones can appear. */
export function postgresPolicy(
  system: SystemObjects,
  loadUserObjects: () => Promise<UserObjects>,
): GatePolicy {
  return {
    safeFunctions: postgresFunctions,
    async inspect(sql) {
      const query = await parseQuery(sql);
      const user = await loadUserObjects();
      return inspectQuery(query, { system, user });
    },
    resolvesTo(name, table) {
      if (name.catalog !== undefined && name.catalog !== system.database) return false;
      if (name.table !== table.table) return false;
      if (name.schema !== undefined) return name.schema === table.schema;
      // The system's catalogs come first on every search path.
      return system.searchPath.includes(table.schema) && !name.table.startsWith('pg_');
    },
  };
}

/** The tree of the only statement: a SELECT, or the SELECT inside EXPLAIN. */
async function parseQuery(sql: string): Promise<unknown> {
  const { stmts = [] } = await parse(sql).catch((error: unknown) => {
    throw sqlSyntaxError(
      `Postgres cannot parse it: ${errorMessage(error)}${positionText(error, sql)}`,
    );
  });
  const statement: unknown = requireOneStatement(stmts).stmt;
  const explain = isRecord(statement) ? statement['ExplainStmt'] : undefined;
  const query = isRecord(explain) ? explain['query'] : statement;
  if (isRecord(query) && 'SelectStmt' in query) return query;
  const [kind = 'different'] = Object.keys(query ?? {});
  throw gateRefusal('statement', `it is a ${kind.replace(/Stmt$/, '').toUpperCase()} statement.`);
}

function positionText(error: unknown, sql: string): string {
  const offset = hasSqlDetails(error) ? error.sqlDetails?.cursorPosition : undefined;
  if (offset === undefined) return '';
  const { line, column } = lineAndColumn(sql, offset);
  return ` (line ${line}, column ${column})`;
}

interface KnownObjects {
  readonly system: SystemObjects;
  readonly user: UserObjects;
}

function inspectQuery(query: unknown, objects: KnownObjects): StatementFacts {
  const ctes = columnsOfCtes(query);
  const columns = objects.user.columnsNamedLikeRowFunctions;
  const factsWith = (visibleCtes: typeof ctes): StatementFacts =>
    collectStatementFacts(query, {
      ...treeShape,
      readNode: nodeReader(objects, fromItemsOf(query, { ctes: visibleCtes, columns })),
    });
  const facts = factsWith(ctes);
  // If one name is a CTE in one place and a table in another, treat it as the table everywhere.
  const isAmbiguous = facts.tables.some(({ table }) => ctes.has(table));
  return isAmbiguous ? factsWith(new Map()) : facts;
}

const treeShape: Omit<TreeReader, 'readNode'> = {
  withKey: 'withClause',
  readCtes: (clause) =>
    recordsIn(clause['ctes']).map((entry) => ({
      name: (entry['CommonTableExpr'] as { ctename?: unknown } | undefined)?.ctename,
      body: entry,
      recursive: clause['recursive'] === true,
    })),
  recursiveSeesLater: true,
  foldName: (name) => name,
};

/**
 * Finds everything in a node that runs code: function calls, and also operators, casts and `row.f`, which call functions
 * without a call node.
 */
function nodeReader(objects: KnownObjects, fromItems: FromItems): TreeReader['readNode'] {
  const functionNames = functionNamesOf(objects);
  const operators = new Set(objects.system.operators).difference(new Set(objects.user.operators));
  const types = safeTypesOf(objects.user);
  return (node): NodeUse => {
    checkNode(node, operators, types);
    const { FuncCall: call, RangeVar: table, ColumnRef: column, A_Indirection: indirection } = node;
    const names = [
      ...(isRecord(call) ? [functionNames.ofCall(namesIn(call['funcname']))] : []),
      ...(isRecord(column) ? functionNames.ofColumn(namesIn(column['fields']), fromItems) : []),
      ...(isRecord(indirection) ? functionNames.ofFields(namesIn(indirection['indirection'])) : []),
    ];
    return {
      function: names.filter((name) => name !== ''),
      ...(isRecord(table) && {
        table: {
          catalog: table['catalogname'],
          schema: table['schemaname'],
          table: table['relname'],
        },
      }),
    };
  };
}

/** Throws for a node, an operator or a cast that is not known to be safe. */
function checkNode(
  node: TreeNode,
  operators: ReadonlySet<string>,
  types: ReadonlySet<string>,
): void {
  if (node['intoClause'] !== undefined) throw gateRefusal('node', 'SELECT INTO is not allowed.');
  const unlisted = Object.keys(node).find((tag) => /^[A-Z]/.test(tag) && !allowedNodes.has(tag));
  if (unlisted !== undefined) throw unlistedNodeRefusal(unlisted);
  const operator = operatorsOf(node).find((name) => !operators.has(name));
  if (operator !== undefined)
    throw gateRefusal('function', `the operator ${operator} may call user-defined code.`);
  const typeName = node['typeName'] ?? node['TypeName'];
  const type = isRecord(typeName) ? unqualifiedSystemName(typeName['names']) : undefined;
  if (type !== undefined && !types.has(type))
    throw gateRefusal('function', `a cast to the type ${type} may call user-defined code.`);
}

function safeTypesOf({ safeTypes, unsafeTypes }: UserObjects): ReadonlySet<string> {
  const withoutSchema = (name: string): string => name.slice(name.lastIndexOf('.') + 1);
  const isSafe = (name: string): boolean => !unsafeTypes.includes(withoutSchema(name));
  return new Set([...systemTypes, ...safeTypes].filter(isSafe));
}

/** Names the functions that a call, a column reference and a field access can call. */
function functionNamesOf({ system, user }: KnownObjects) {
  const types = safeTypesOf(user);
  const unaryFunctions = new Set([...system.unaryFunctions, ...user.unaryFunctions]);
  const rowFunctions = new Set([...system.rowFunctions, ...user.rowFunctions]);
  /** A function that shadows the name is reported instead of it, with its schema: it is not on the list of safe functions. */
  const orShadowing = (name: string): string =>
    user.shadowingFunctions.find((shadow) => shadow.slice(shadow.lastIndexOf('.') + 1) === name) ??
    name;
  // For a type's name Postgres tries a cast first.
  const callsUnaryFunction = (name: string): boolean =>
    unaryFunctions.has(name) && (!types.has(name) || orShadowing(name) !== name);
  return {
    ofCall: (names: readonly string[]): string =>
      names[0] === 'pg_catalog' ? names.slice(1).join('.') : orShadowing(names.join('.')),
    /** In `a.b.c`, `b` and `c` are functions unless the FROM item before the dot certainly has that column. */
    ofColumn: (fields: readonly string[], fromItems: FromItems): string[] =>
      fields.slice(1).filter((name, before) => {
        const items = fromItems.get(fields[before]);
        const isColumnOfEvery = items?.every((columns) => columns?.has(name)) === true;
        if (rowFunctions.has(name) && !isColumnOfEvery) return true;
        const mayBeFunctionResult = items?.includes(undefined) === true || fromItems.has(undefined);
        return callsUnaryFunction(name) && mayBeFunctionResult;
      }),
    /** The fields in `(expression).f`. */
    ofFields: (fields: readonly string[]): string[] =>
      fields.filter((name) => callsUnaryFunction(name) || rowFunctions.has(name)),
  };
}
