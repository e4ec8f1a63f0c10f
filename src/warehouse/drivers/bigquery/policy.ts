import { UserError } from '../../../lib/error.ts';
import {
  asNode,
  identifierName,
  parseSql,
  type SqlNode,
  walkSql,
  withAnalyzer,
} from '../../../sql/analyzer.ts';
import type { Dialect } from '../../../sql/dialect.ts';
import { analyzeStatement } from '../../gate/analyze-statement.ts';
import type { GatePolicy, StatementFacts, UnresolvedTable } from '../../gate/policy.ts';
import { gateRefusal } from '../../warehouse-error.ts';
import { bigqueryFunctions } from './functions.ts';
import { shardedName } from './introspect/shards.ts';
import type { DryRun } from './jobs.ts';
import { normalizeForAnalyzer } from './statement-text.ts';

const roots = ['select', 'union', 'intersect', 'except', 'subquery'];

/** What the gate asks BigQuery. */
export interface StatementChecks {
  /** The project of the connection. */
  readonly project: string;
  /** What BigQuery itself says that the statement is; it runs nothing. */
  dryRun(sql: string): Promise<DryRun>;
  /** True if one of the tables is a view, behind which other tables and functions may lie. */
  hasView(tables: readonly UnresolvedTable[]): Promise<boolean>;
}

/**
 * The general analyzer reads a text that it and BigQuery read alike; then BigQuery says what the
 * statement is and what it uses. Both must agree: what only BigQuery sees counts too, unless it
 * lies behind a view.
 */
export function bigqueryPolicy(dialect: Dialect, checks: StatementChecks): GatePolicy {
  const { project } = checks;
  return {
    safeFunctions: bigqueryFunctions,
    async inspect(sql) {
      const text = normalizeForAnalyzer(sql);
      const rules = { dialect, roots, alwaysRecursive: false, hasGroupings: true };
      const facts = await analyzeStatement(text, rules);
      const tables = facts.tables.map((table) => splitName(table, project));
      const functions = await namedFunctions(facts.functions, text, dialect);
      // What leaves BigQuery is not even planned there.
      if (functions.some((name) => leavesEngine.test(name))) return { functions, tables };
      const said = await checks.dryRun(sql).catch(unlessGateSaysMore);
      if (said === undefined) return { functions, tables };
      requireSelect(said);
      const seen = seenFacts(said, project);
      const hidden = {
        tables: seen.tables.filter((table) => !isAmong(table, tables, dialect)),
        functions: seen.functions.filter((name) => !isCalled(name, functions, dialect)),
      };
      const isExplained =
        hidden.tables.length + hidden.functions.length > 0 && (await checks.hasView(tables));
      return isExplained
        ? { functions, tables }
        : {
            functions: [...functions, ...hidden.functions],
            tables: [...tables, ...hidden.tables],
          };
    },
    partitionedTable: async ({ catalog, schema = dialect.defaultSchema, table }) => {
      const name = shardedName(table) ?? wildcardName(table);
      return name === undefined
        ? undefined
        : { ...(catalog !== undefined && { catalog }), schema, table: name };
    },
    resolvesTo: ({ catalog, schema = dialect.defaultSchema, table }, candidate) =>
      catalog === candidate.catalog && schema === candidate.schema && table === candidate.table,
  };
}

/** Throws `gate_refused` unless BigQuery says that the statement is one SELECT. */
export function requireSelect({ query: { statementType } }: DryRun): void {
  if (statementType === 'SELECT') return;
  const kind = (statementType ?? 'unknown').replaceAll('_', ' ');
  throw gateRefusal('engine', `BigQuery takes it for a statement of type ${kind}, not a SELECT.`);
}

/**
 * The gate says more about a name that is unknown. If it has nothing to say, the run that follows
 * throws this error.
 */
function unlessGateSaysMore(error: unknown): undefined {
  const isForGate =
    error instanceof UserError &&
    ['missing_object', 'warehouse_privilege', 'query_failed'].includes(error.code);
  if (!isForGate) throw error;
}

const leavesEngine =
  /^(?:external_query|ml\.|ai\.|keys\.|aead\.|deterministic_|session_user|error$)/;

/**
 * A name in backticks may hold its dots: `` `project.dataset.table` ``. The project of the
 * connection is left out, as in the catalog.
 */
function splitName({ catalog, schema, table }: UnresolvedTable, project: string): UnresolvedTable {
  const parts = [catalog, schema, table]
    .filter((part) => part !== undefined)
    .join('.')
    .split('.');
  const name = parts.pop() ?? '';
  const dataset = parts.pop();
  const owner = parts.length === 0 ? undefined : parts.join('.');
  return {
    ...(owner !== undefined && owner !== project && { catalog: owner }),
    ...(dataset !== undefined && { schema: dataset }),
    table: name,
  };
}

/**
 * The functions by the names that the list has: without `SAFE.`, and with the namespace or dataset
 * that the analyzer keeps in a node of its own.
 */
async function namedFunctions(
  functions: readonly string[],
  sql: string,
  dialect: Dialect,
): Promise<readonly string[]> {
  const bare = functions.map((name) => name.replace(/^safe\./, ''));
  if (!bare.includes('method_call')) return bare;
  const calls = await withAnalyzer(() =>
    parseSql(sql, dialect).flatMap((statement) =>
      [...walkSql({ [statement.kind]: statement.body })].flatMap((node) =>
        node.kind === 'method_call' ? [calledName(node)] : [],
      ),
    ),
  ).catch((error: unknown) => {
    if (error instanceof UserError) return ['method_call'];
    throw error;
  });
  return [...bare.filter((name) => name !== 'method_call'), ...calls];
}

/** `net.host` for `NET.HOST(…)`; only the kind of the node if its names cannot be read. */
function calledName({ body }: SqlNode): string {
  const owner = asNode(body['this']);
  const parts =
    owner?.kind === 'column'
      ? [identifierName(owner.body['table']), identifierName(owner.body['name'])]
      : [undefined];
  const names = [...parts, identifierName(body['method'])];
  const known = names.filter((name) => name !== undefined);
  const isClear = owner?.kind === 'column' && known.length >= 2;
  return isClear
    ? known
        .join('.')
        .toLowerCase()
        .replace(/^safe\./, '')
    : 'method_call';
}

/** The tables and routines that BigQuery found, named as in the catalog. */
function seenFacts({ query }: DryRun, project: string): StatementFacts {
  const tables = query.referencedTables.map(({ projectId, datasetId, tableId }) => ({
    ...(projectId !== project && { catalog: projectId }),
    schema: datasetId,
    table: tableId,
  }));
  const functions = query.referencedRoutines.map(({ datasetId, routineId }) =>
    `${datasetId}.${routineId}`.toLowerCase(),
  );
  return { tables, functions };
}

/** True if a name of the statement means this table, or the days of which it is one. */
function isAmong(
  seen: UnresolvedTable,
  written: readonly UnresolvedTable[],
  { defaultSchema }: Dialect,
): boolean {
  return written.some(({ catalog, schema = defaultSchema, table }) => {
    const isSameName = table === seen.table || matchesWildcard(table, seen.table);
    return catalog === seen.catalog && schema === seen.schema && isSameName;
  });
}

/**
 * True if the statement calls a function of people by its name. Without its dataset, the name must
 * not be that of a function of BigQuery, which a reader would take it for.
 */
function isCalled(seen: string, written: readonly string[], { defaultSchema }: Dialect): boolean {
  const prefix = `${defaultSchema.toLowerCase()}.`;
  const bare = seen.startsWith(prefix) ? seen.slice(prefix.length) : seen;
  return written.includes(seen) || (!bigqueryFunctions.has(bare) && written.includes(bare));
}

function matchesWildcard(written: string, table: string): boolean {
  return written.endsWith('*') && table.startsWith(written.slice(0, -1));
}

/** `events_*` for `events_2026*`: some of the days of a table. */
function wildcardName(table: string): string | undefined {
  const [, prefix = ''] = /^(.*?)\d{0,8}\*$/s.exec(table) ?? [];
  return prefix === '' || `${prefix}*` === table ? undefined : `${prefix}*`;
}
