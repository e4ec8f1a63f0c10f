import { isRecord } from '../../../lib/json.ts';
import { recordsIn, type TreeNode } from '../../gate/statement-facts.ts';
import { namesIn, nodesIn } from '../../postgres-wire/parse-tree.ts';

/**
 * Columns that a FROM item certainly has. Undefined for a function: its result may be a plain
 * value, and then `x.f` calls any function of one argument.
 */
type CertainColumns = ReadonlySet<unknown> | undefined;

/**
 * Everything that FROM clauses name, by alias, with one entry per FROM item of that alias. A
 * function without alias has the key undefined.
 */
export type FromItems = ReadonlyMap<unknown, readonly CertainColumns[]>;

/** The certain columns of each CTE, by name. */
export type CteColumns = ReadonlyMap<unknown, ReadonlySet<unknown>>;

interface ColumnSources {
  readonly ctes: CteColumns;
  /** `table.column` of real tables. */
  readonly columns: readonly string[];
}

export function collectFromItems(tree: unknown, sources: ColumnSources): FromItems {
  const items = nodesIn(tree).flatMap((node) => readFromItem(node, sources) ?? []);
  const byAlias = Map.groupBy(items, ({ alias }) => alias);
  return new Map(
    [...byAlias].map(([alias, same]) => [alias, same.map(({ columns }) => columns)] as const),
  );
}

function readFromItem(
  { RangeFunction: func, RangeVar: table, RangeSubselect: subselect }: TreeNode,
  sources: ColumnSources,
) {
  const item = [func, table, subselect].find((node) => isRecord(node));
  if (item === undefined) return undefined;
  const aliasNode = isRecord(item['alias']) ? item['alias'] : {};
  const alias = aliasNode['aliasname'] ?? item['relname'];
  if (isRecord(func)) return { alias, columns: undefined };
  const columnAliases = namesIn(aliasNode['colnames']);
  const columns =
    isRecord(table) && columnAliases.length === 0
      ? columnsOfTable(item, sources)
      : columnsOfQuery(item['subquery'], columnAliases);
  return { alias, columns };
}

function columnsOfTable(
  { relname, schemaname: schema }: TreeNode,
  { ctes, columns }: ColumnSources,
): ReadonlySet<unknown> {
  const cte = schema === undefined ? ctes.get(relname) : undefined;
  if (cte !== undefined) return cte;
  const prefix = `${String(relname)}.`;
  const own = columns.filter((column) => column.startsWith(prefix));
  return new Set(own.map((column) => column.slice(prefix.length)));
}

/** If several CTEs have one name, only the columns that all of them have are certain. */
export function columnsOfCtes(tree: unknown): CteColumns {
  const ctes = nodesIn(tree).flatMap(({ CommonTableExpr: cte }) => (isRecord(cte) ? [cte] : []));
  const byName = Map.groupBy(ctes, (cte) => cte['ctename']);
  return new Map(
    [...byName].map(([name, same]) => {
      const columns = same.map((cte) =>
        columnsOfQuery(cte['ctequery'], namesIn(cte['aliascolnames'])),
      );
      return [name, columns.reduce((common, own) => common.intersection(own))] as const;
    }),
  );
}

/** The column aliases if there are any, otherwise the names in the (first) SELECT list. */
function columnsOfQuery(query: unknown, columnAliases: readonly string[]): ReadonlySet<unknown> {
  if (columnAliases.length > 0) return new Set(columnAliases);
  const select = isRecord(query) ? (query['SelectStmt'] ?? query) : undefined;
  if (!isRecord(select)) return new Set();
  // The left side of UNION, INTERSECT and EXCEPT names the columns.
  if (isRecord(select['larg'])) return columnsOfQuery(select['larg'], []);
  return new Set(recordsIn(select['targetList']).flatMap(selectItemName));
}

function selectItemName({ ResTarget: target }: TreeNode): unknown {
  const { name, val: value } = isRecord(target) ? target : {};
  const column = isRecord(value) ? value['ColumnRef'] : undefined;
  return name ?? (isRecord(column) ? namesIn(column['fields']).slice(-1) : []);
}
