import { isRecord } from '../../../lib/json.ts';
import { readWordList } from '../../../lib/word-list.ts';
import type { TableRef } from '../../../sql/dialect.ts';
import type { GatePolicy, StatementFacts, UnresolvedTable } from '../../gate/policy.ts';
import {
  collectStatementFacts,
  type NodeUse,
  type TreeNode,
  type TreeReader,
  unlistedNodeRefusal,
} from '../../gate/statement-facts.ts';
import { gateRefusal } from '../../warehouse-error.ts';
import type { SystemObjects, UserObjects } from './database-objects.ts';
import { parseQuery, readingNodes, treeShape } from '../../postgres-wire/parse-query.ts';
import { columnsOfCtes, collectFromItems, type FromItems } from './from-items.ts';
import { postgresFunctions } from './functions.ts';
import { namesIn, operatorsOf, unqualifiedSystemName } from '../../postgres-wire/parse-tree.ts';
import { castTargetsOf, readsText } from './user-casts.ts';

const systemTypes = readWordList(new URL('types.txt', import.meta.url));

/** What the policy asks the database, for each statement anew. */
export interface PolicyCatalog {
  loadUserObjects(): Promise<UserObjects>;
  /** Names of functions of extensions that only compute. */
  loadExtensionFunctions(): Promise<ReadonlySet<string>>;
  findPartitionedTable(name: UnresolvedTable): Promise<TableRef | undefined>;
}

/**
 * Parses with Postgres's own parser. The user objects are loaded for each statement, since new ones
 * can appear.
 */
export function postgresPolicy(system: SystemObjects, catalog: PolicyCatalog): GatePolicy {
  return {
    safeFunctions: postgresFunctions,
    async inspect(sql) {
      const query = await parseQuery(sql);
      const user = await catalog.loadUserObjects();
      const facts = inspectQuery(query, { system, user });
      if (facts.functions.every((name) => postgresFunctions.has(name))) return facts;
      const ofExtensions = await catalog.loadExtensionFunctions();
      return { ...facts, functions: facts.functions.filter((name) => !ofExtensions.has(name)) };
    },
    partitionedTable: (name) => catalog.findPartitionedTable(name),
    resolvesTo(name, table) {
      if (name.catalog !== undefined && name.catalog !== system.database) return false;
      if (name.table !== table.table) return false;
      if (name.schema !== undefined) return name.schema === table.schema;
      // The system's catalogs come first on every search path.
      return system.searchPath.includes(table.schema) && !name.table.startsWith('pg_');
    },
  };
}

interface KnownObjects {
  readonly system: SystemObjects;
  readonly user: UserObjects;
}

interface StatementNames {
  readonly fromItems: FromItems;
  /** Types to which a cast may call a user's function. */
  readonly castTargets: ReadonlySet<string>;
}

function inspectQuery(query: unknown, objects: KnownObjects): StatementFacts {
  const ctes = columnsOfCtes(query);
  const columns = objects.user.columnsNamedLikeRowFunctions;
  const castTargets = castTargetsOf(query, objects.user.userCasts);
  const factsWith = (visibleCtes: typeof ctes): StatementFacts => {
    const fromItems = collectFromItems(query, { ctes: visibleCtes, columns });
    const readNode = nodeReader(objects, { fromItems, castTargets });
    return collectStatementFacts(query, { ...treeShape, readNode });
  };
  const facts = factsWith(ctes);
  // If one name is a CTE in one place and a table in another, treat it as the table everywhere.
  const isAmbiguous = facts.tables.some(({ table }) => ctes.has(table));
  return isAmbiguous ? factsWith(new Map()) : facts;
}

/**
 * Finds everything in a node that runs code: function calls, and also operators, casts and `row.f`,
 * which call functions without a call node.
 */
function nodeReader(
  objects: KnownObjects,
  { fromItems, castTargets }: StatementNames,
): TreeReader['readNode'] {
  const functionNames = functionNamesOf(objects, castTargets);
  const operators = new Set(objects.system.operators).difference(new Set(objects.user.operators));
  const types = safeTypesOf(objects.user);
  return (node): NodeUse => {
    checkNode(node, operators, { types, castTargets });
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
  { types, castTargets }: { types: ReadonlySet<string>; castTargets: ReadonlySet<string> },
): void {
  if (node['intoClause'] !== undefined) throw gateRefusal('node', 'SELECT INTO is not allowed.');
  const unlisted = Object.keys(node).find((tag) => /^[A-Z]/.test(tag) && !readingNodes.has(tag));
  if (unlisted !== undefined) throw unlistedNodeRefusal(unlisted);
  const operator = operatorsOf(node).find((name) => !operators.has(name));
  if (operator !== undefined)
    throw gateRefusal('function', `the operator ${operator} may call user-defined code.`);
  const typeName = node['typeName'] ?? node['TypeName'];
  const type = isRecord(typeName) ? unqualifiedSystemName(typeName['names']) : undefined;
  if (type === undefined) return;
  if (!types.has(type) || (castTargets.has(withoutSchema(type)) && !readsText(node)))
    throw gateRefusal('function', `a cast to the type ${type} may call user-defined code.`);
}

function withoutSchema(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1);
}

function safeTypesOf({ safeTypes, unsafeTypes }: UserObjects): ReadonlySet<string> {
  const isSafe = (name: string): boolean => !unsafeTypes.includes(withoutSchema(name));
  return new Set([...systemTypes, ...safeTypes].filter(isSafe));
}

/**
 * The lists have names in lower case, and compare without case: a name with capitals is another
 * function, so it is quoted.
 */
function asListed(name: string): string {
  return name === name.toLowerCase() ? name : `"${name}"`;
}

/** Names the functions that a call, a column reference and a field access can call. */
function functionNamesOf({ system, user }: KnownObjects, castTargets: ReadonlySet<string>) {
  const types = safeTypesOf(user).difference(castTargets);
  const unaryFunctions = new Set([...system.unaryFunctions, ...user.unaryFunctions]);
  const rowFunctions = new Set([...system.rowFunctions, ...user.rowFunctions]);
  /**
   * A function that shadows the name is reported instead of it, with its schema: it is not on the
   * list of safe functions.
   */
  const orShadowing = (name: string): string =>
    user.shadowingFunctions.find((shadow) => withoutSchema(shadow) === name) ?? asListed(name);
  // For a type's name Postgres tries a cast first.
  const callsUnaryFunction = (name: string): boolean =>
    unaryFunctions.has(name) && (!types.has(name) || orShadowing(name) !== name);
  return {
    ofCall: (names: readonly string[]): string =>
      names[0] === 'pg_catalog' ? asListed(names.slice(1).join('.')) : orShadowing(names.join('.')),
    /**
     * In `a.b.c`, `b` and `c` are functions unless the FROM item before the dot certainly has that
     * column.
     */
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
