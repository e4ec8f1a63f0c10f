import { parse } from 'libpg-query';
import { messageOf } from '../../../lib/error.ts';
import { isRecord } from '../../../sql/analyzer.ts';
import type { GatePolicy } from '../../driver.ts';
import { refused } from '../../failure.ts';
import { onlyOne, recordsOf, statementFacts, type TreeReading } from '../../statement-facts.ts';
import { postgresFunctions } from './functions.ts';

/** Node tags of Postgres's raw parse tree; LockingClause, IntoClause, ParamRef and every other statement are not among them. */
const tags = new Set(
  `SelectStmt ResTarget ColumnRef A_Star A_Const A_Expr BoolExpr FuncCall TypeCast TypeName RangeVar JoinExpr RangeSubselect
   RangeFunction RangeTableSample RangeTableFunc RangeTableFuncCol SubLink CommonTableExpr SortBy WindowDef CaseExpr CaseWhen
   CoalesceExpr MinMaxExpr NullTest BooleanTest A_ArrayExpr RowExpr A_Indirection A_Indices GroupingSet GroupingFunc
   NamedArgExpr List String Integer Float Boolean BitString CollateClause SQLValueFunction XmlExpr XmlSerialize DefElem
   ColumnDef Alias JsonObjectConstructor JsonArrayConstructor JsonArrayQueryConstructor JsonObjectAgg JsonArrayAgg
   JsonKeyValue JsonValueExpr JsonFormat JsonOutput JsonReturning JsonIsPredicate JsonParseExpr JsonScalarExpr
   JsonSerializeExpr JsonFuncExpr JsonTable JsonTableColumn JsonTablePathSpec JsonArgument JsonBehavior JsonAggConstructor`.split(/\s+/),
);

/** Postgres's own parser. `searchPath`: where the engine looks for a table without schema. */
export function postgresPolicy({ database, searchPath }: { database: string; searchPath: readonly string[] }): GatePolicy {
  return {
    functions: postgresFunctions,
    inspect: async (sql) => statementFacts(await onlyQuery(sql), reading),
    means(written, table) {
      if (written.catalog !== undefined && written.catalog !== database) return false;
      if (written.table !== table.table) return false;
      if (written.schema !== undefined) return written.schema === table.schema;
      // The system's catalogs come first on every search path.
      return searchPath.includes(table.schema) && !written.table.startsWith('pg_');
    },
  };
}

async function onlyQuery(sql: string): Promise<unknown> {
  const root: unknown = onlyOne((await parsed(sql)).stmts ?? []).stmt;
  const explain = isRecord(root) ? root['ExplainStmt'] : undefined;
  const query = isRecord(explain) ? explain['query'] : root;
  if (isRecord(query) && 'SelectStmt' in query) return query;
  throw refused(
    'statement',
    `it is a ${Object.keys(query ?? {})
      .join()
      .replace(/Stmt$/, '')
      .toUpperCase()} statement.`,
  );
}

async function parsed(sql: string) {
  try {
    return await parse(sql);
  } catch (error) {
    throw refused('parse', `Postgres cannot parse it: ${messageOf(error)}`);
  }
}

const reading: TreeReading = {
  withKey: 'withClause',
  ctes: (clause) =>
    recordsOf(clause['ctes']).map((entry) => ({
      name: (entry['CommonTableExpr'] as { ctename?: unknown } | undefined)?.ctename,
      body: entry,
      recursive: clause['recursive'] === true,
    })),
  fold: (name) => name,
  check: (node, found) => {
    if (node['intoClause'] !== undefined) throw refused('node', 'SELECT INTO.');
    for (const [tag, body] of Object.entries(node)) {
      if (!/^[A-Z]/.test(tag)) continue;
      if (!tags.has(tag)) throw refused('node', `${tag} is not on the list of what a query may contain.`);
      if (!isRecord(body)) continue;
      if (tag === 'FuncCall') found.function(functionName(body['funcname']));
      if (tag === 'RangeVar') found.table({ catalog: body['catalogname'], schema: body['schemaname'], table: body['relname'] });
    }
  },
};

function functionName(parts: unknown): string {
  const names = recordsOf(parts).map(({ String: part }) => (part as { sval?: string } | undefined)?.sval ?? '');
  return (names[0] === 'pg_catalog' ? names.slice(1) : names).join('.');
}
