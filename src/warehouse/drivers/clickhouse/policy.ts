import { UserError } from '../../../lib/error.ts';
import { clickhouse } from '../../../sql/dialects/clickhouse.ts';
import type { Dialect } from '../../../sql/dialect.ts';
import type { GatePolicy, StatementFacts, UnresolvedTable } from '../../gate/policy.ts';
import type { RunCatalogQuery } from '../../table-schemas.ts';
import { gateRefusal, sqlSyntaxError } from '../../warehouse-error.ts';
import { clickhouseFunctions } from './functions.ts';
import { splitOwnSettings } from './statement-settings.ts';
import { checkStatementText } from './statement-text.ts';
import { readSyntaxTree, type TreeFacts } from './syntax-tree.ts';

export interface ServerFunctions {
  /** Lower-case names of all functions that the server has, those of tables included. */
  readonly known: ReadonlySet<string>;
  /** Those of them that aggregate; each is also there with combinators, as in `sumIf`. */
  readonly aggregates: ReadonlySet<string>;
  /** Those of them that somebody added to the server. */
  readonly added: ReadonlySet<string>;
}

const combinators =
  /(?:simplestate|ordefault|distinct|resample|foreach|argmax|argmin|ornull|tuple|merge|state|array|null|map|if)$/;

/**
 * The server's own parser tells what a statement uses; `EXPLAIN AST` runs nothing. Before it sees
 * the text, the text is searched for what a read-only server would still do.
 */
export function clickhousePolicy(
  dialect: Dialect,
  query: RunCatalogQuery,
  { known, aggregates, added }: ServerFunctions,
): GatePolicy {
  const safeFunctions = clickhouseFunctions.difference(added);
  const baseFunction = (written: string): string => {
    const name = written.toLowerCase();
    if (known.has(name)) return name;
    for (let base = name; combinators.test(base);) {
      base = base.replace(combinators, '');
      if (aggregates.has(base)) return base;
    }
    return name;
  };
  return {
    safeFunctions,
    async inspect(sql) {
      const text = splitOwnSettings(sql).text;
      const { called } = checkStatementText(text);
      const tree = await readTree(text, query);
      // The text and the tree must agree: neither may hide a call from the other.
      const calledFunctions = [...called].filter((name) => known.has(name));
      const functions = new Set([...tree.functions, ...calledFunctions].map(baseFunction));
      return { functions: [...functions], tables: await namedTables(tree, dialect, query) };
    },
    resolvesTo: ({ catalog, schema = dialect.defaultSchema, table }, candidate) =>
      catalog === undefined && schema === candidate.schema && table === candidate.table,
  };
}

const prefix = 'EXPLAIN AST ';

async function readTree(text: string, query: RunCatalogQuery): Promise<TreeFacts> {
  if (!/\S/.test(text)) throw gateRefusal('statement', 'the text has no statement.');
  const rows = (await query(prefix + text).catch((error: unknown) => {
    throw parseFailure(text, error);
  })) as { readonly explain: string }[];
  return readSyntaxTree(rows.map(({ explain }) => explain).join('\n'));
}

/** What the server says about a text that it cannot parse. */
function parseFailure(text: string, error: unknown): unknown {
  const isOfEngine =
    error instanceof UserError && ['sql_syntax', 'query_failed'].includes(error.code);
  if (!isOfEngine) return error;
  const [, position] = /failed at position (\d+)/.exec(error.message) ?? [];
  if (position === undefined) {
    // The scope is the question of the gate.
    const reason = error.message.replace(/^[^:]*: /, '').replace(/: In scope [^]*$/, '.');
    return sqlSyntaxError(`ClickHouse cannot parse the SQL: ${reason}`);
  }
  const before = Buffer.from(text, 'utf8')
    .subarray(0, Math.max(0, Number(position) - 1 - prefix.length))
    .toString('utf8')
    .split('\n');
  const place = `line ${before.length}, column ${Array.from(before.at(-1) ?? '').length + 1}`;
  return sqlSyntaxError(`ClickHouse cannot parse the SQL at ${place}.`);
}

/**
 * The tables that the names of a tree mean. A name without a database is that of a common table if
 * the connection's database has no such table: then the server finds no table either.
 */
async function namedTables(
  { tables, sets, hasCommonTables }: TreeFacts,
  { defaultSchema }: Dialect,
  query: RunCatalogQuery,
): Promise<StatementFacts['tables']> {
  const isClear = (name: string): boolean =>
    tables.includes(name) && !name.includes('.') && !hasCommonTables;
  const names = [...new Set([...tables, ...sets])];
  const unclear = names.filter((name) => !isClear(name));
  const existing = await existingTables(unclear.flatMap(readings), defaultSchema, query);
  return names.flatMap((name): readonly UnresolvedTable[] => {
    if (isClear(name)) return readings(name);
    const found = readings(name).filter(({ schema = defaultSchema, table }) =>
      existing.has(JSON.stringify([schema, table])),
    );
    if (found.length > 1) throw gateRefusal('table', `${name} can be the name of several tables.`);
    const isMissing = found.length === 0 && tables.includes(name) && !hasCommonTables;
    return isMissing ? readings(name).slice(0, 1) : found;
  });
}

/** What a name can mean: the tree writes `a.b` for a table of a database and for a table `a.b`. */
function readings(name: string): readonly UnresolvedTable[] {
  const dots = [...name.matchAll(/\./g)].map(({ index }) => index);
  const qualified = dots.map((dot) => ({ schema: name.slice(0, dot), table: name.slice(dot + 1) }));
  return [{ table: name }, ...qualified];
}

async function existingTables(
  candidates: readonly UnresolvedTable[],
  defaultSchema: string,
  query: RunCatalogQuery,
): Promise<ReadonlySet<string>> {
  if (candidates.length === 0) return new Set();
  const pairs = candidates.map(
    ({ schema = defaultSchema, table }) =>
      `(${clickhouse.literal(schema)}, ${clickhouse.literal(table)})`,
  );
  const rows = (await query(
    `SELECT database AS \`schema\`, name AS \`table\` FROM system.tables WHERE (database, name) IN (${pairs.join(', ')})`,
  )) as { readonly schema: string; readonly table: string }[];
  return new Set(rows.map(({ schema, table }) => JSON.stringify([schema, table])));
}
