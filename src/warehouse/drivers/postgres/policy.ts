import { hasSqlDetails, parse } from 'libpg-query';
import { isRecord } from '../../../lib/json.ts';
import { errorMessage } from '../../../lib/error.ts';
import { readWordList } from '../../../lib/word-list.ts';
import { lineAndColumn } from '../../../sql/analyzer.ts';
import type { GatePolicy } from '../../driver.ts';
import { refused, unparsed } from '../../failure.ts';
import {
  notListed,
  onlyOne,
  recordsOf,
  statementFacts,
  type TreeReading,
} from '../../statement-facts.ts';
import { postgresFunctions } from './functions.ts';
import type { OwnObjects, PostgresPlace } from './database-objects.ts';

const tags = readWordList(new URL('nodes.txt', import.meta.url));
const systemTypes = readWordList(new URL('types.txt', import.meta.url));

/** Postgres's own parser; what people made in the database is asked for anew, since it may have been made meanwhile. */
export function postgresPolicy(
  place: PostgresPlace,
  ownObjects: () => Promise<OwnObjects>,
): GatePolicy {
  return {
    functions: postgresFunctions,
    async inspect(sql) {
      const tree = await onlyQuery(sql);
      const own = await ownObjects();
      const [use, ctes] = [usesOf(place, own), ctesOf(tree)];
      const facts = statementFacts(tree, { ...shape, use: use(rangesOf(tree, ctes, own.columns)) });
      // A name that is a CTE here and a table there is taken for the table.
      if (!facts.tables.some(({ table }) => ctes.has(table))) return facts;
      return statementFacts(tree, { ...shape, use: use(rangesOf(tree, new Map(), own.columns)) });
    },
    means(written, table) {
      if (written.catalog !== undefined && written.catalog !== place.database) return false;
      if (written.table !== table.table) return false;
      if (written.schema !== undefined) return written.schema === table.schema;
      // The system's catalogs come first on every search path.
      return place.searchPath.includes(table.schema) && !written.table.startsWith('pg_');
    },
  };
}

function placeOf(error: unknown, sql: string): string {
  const offset = hasSqlDetails(error) ? error.sqlDetails?.cursorPosition : undefined;
  if (offset === undefined) return '';
  const { line, column } = lineAndColumn(sql, offset);
  return ` (line ${line}, column ${column})`;
}

async function onlyQuery(sql: string): Promise<unknown> {
  const { stmts = [] } = await parse(sql).catch((error: unknown) => {
    throw unparsed(`Postgres cannot parse it: ${errorMessage(error)}${placeOf(error, sql)}`);
  });
  const root: unknown = onlyOne(stmts).stmt;
  const explain = isRecord(root) ? root['ExplainStmt'] : undefined;
  const query = isRecord(explain) ? explain['query'] : root;
  if (isRecord(query) && 'SelectStmt' in query) return query;
  const [kind = 'different'] = Object.keys(query ?? {});
  throw refused('statement', `it is a ${kind.replace(/Stmt$/, '').toUpperCase()} statement.`);
}

const shape: Omit<TreeReading, 'use'> = {
  withKey: 'withClause',
  ctes: (clause) =>
    recordsOf(clause['ctes']).map((entry) => ({
      name: (entry['CommonTableExpr'] as { ctename?: unknown } | undefined)?.ctename,
      body: entry,
      recursive: clause['recursive'] === true,
    })),
  looksAhead: true,
  fold: (name) => name,
};

/** What runs a function: calls, and without the node of a call operators, casts, and fields that are no columns. */
function usesOf(place: PostgresPlace, { shadows, castTypes, ...own }: OwnObjects) {
  const operators = new Set(place.operators).difference(new Set(own.operators));
  const types = new Set(
    [...systemTypes, ...own.types].filter(
      (name) => !castTypes.includes(name.slice(name.lastIndexOf('.') + 1)),
    ),
  );
  const [one, row] = [
    new Set([...place.ofOne, ...own.ofOne]),
    new Set([...place.ofRow, ...own.ofRow]),
  ];
  const shadowOf = (name: string): string =>
    shadows.find((shadow) => shadow.slice(shadow.lastIndexOf('.') + 1) === name) ?? name;
  const isCalled = (name: string): boolean =>
    one.has(name) && (!types.has(name) || shadowOf(name) !== name);
  const calledOn = (ranges: Ranges, fields: readonly string[]): string[] =>
    fields.slice(1).filter((name, before) => {
      const found = ranges.get(fields[before]);
      if (row.has(name) && found?.every((columns) => columns?.has(name)) !== true) return true;
      return isCalled(name) && (found?.includes(undefined) === true || ranges.has(undefined));
    });
  return (ranges: Ranges): TreeReading['use'] =>
    (node) => {
      if (node['intoClause'] !== undefined) throw refused('node', 'SELECT INTO.');
      const unlisted = Object.keys(node).find((tag) => /^[A-Z]/.test(tag) && !tags.has(tag));
      if (unlisted !== undefined) throw notListed(unlisted);
      const operator = operatorsOf(node).find((name) => !operators.has(name));
      if (operator !== undefined)
        throw refused('function', `the operator ${operator} is not one of the system's alone.`);
      const written = node['typeName'] ?? node['TypeName'];
      const type = isRecord(written) ? qualified(written['names']) : undefined;
      if (type !== undefined && !types.has(type))
        throw refused('function', `the type ${type} is not on the list of those to cast to.`);
      const { FuncCall: call, RangeVar: range, ColumnRef: column, A_Indirection: part } = node;
      const called = isRecord(call) ? namesIn(call['funcname']) : [];
      return {
        function: [
          called[0] === 'pg_catalog' ? called.slice(1).join('.') : shadowOf(called.join('.')),
          ...(isRecord(column) ? calledOn(ranges, namesIn(column['fields'])) : []),
          ...(isRecord(part)
            ? namesIn(part['indirection']).filter((name) => isCalled(name) || row.has(name))
            : []),
        ].filter((name) => name !== ''),
        ...(isRecord(range) && {
          table: {
            catalog: range['catalogname'],
            schema: range['schemaname'],
            table: range['relname'],
          },
        }),
      };
    };
}

/** What a name before a dot may mean: columns that it certainly has; undefined for a function, whose row may be a plain value, so that `x.f` calls any function of one argument. */
type Ranges = ReadonlyMap<unknown, readonly (ReadonlySet<unknown> | undefined)[]>;

/** Everything that stands in FROM, by its alias; undefined for a function without one. */
function rangesOf(
  tree: unknown,
  ctes: ReadonlyMap<unknown, ReadonlySet<unknown>>,
  columns: readonly string[],
): Ranges {
  const found = nodesIn(tree).flatMap(
    ({ RangeFunction: called, RangeVar: table, RangeSubselect: query }) => {
      const range = [called, table, query].find((one) => isRecord(one));
      if (range === undefined) return [];
      const { relname, schemaname: schema, alias: written, subquery } = range;
      const alias = isRecord(written) ? written : {};
      const given = namesIn(alias['colnames']);
      const ofTable = () =>
        columns.flatMap((column) =>
          column.startsWith(`${String(relname)}.`) ? column.slice(String(relname).length + 1) : [],
        );
      const cte = schema === undefined ? ctes.get(relname) : undefined;
      const own =
        isRecord(table) && given.length === 0
          ? (cte ?? new Set(ofTable()))
          : columnsOf(subquery, given);
      return [{ name: alias['aliasname'] ?? relname, own: isRecord(called) ? undefined : own }];
    },
  );
  return new Map(
    [...Map.groupBy(found, ({ name }) => name)].map(([name, all]) => [
      name,
      all.map(({ own }) => own),
    ]),
  );
}

/** Columns of CTEs, by name; of several with one name those that all have. */
function ctesOf(tree: unknown): ReadonlyMap<unknown, ReadonlySet<unknown>> {
  const ctes = nodesIn(tree).flatMap(({ CommonTableExpr: cte }) => (isRecord(cte) ? [cte] : []));
  const columns = Map.groupBy(ctes, (cte) => cte['ctename']);
  return new Map(
    [...columns].map(([name, all]) => [
      name,
      all
        .map((cte) => columnsOf(cte['ctequery'], namesIn(cte['aliascolnames'])))
        .reduce((a, b) => a.intersection(b)),
    ]),
  );
}

function nodesIn(tree: unknown): readonly Readonly<Record<string, unknown>>[] {
  const values: unknown[] = [tree];
  for (const value of values)
    if (typeof value === 'object' && value !== null) values.push(...Object.values(value));
  return values.filter((value) => isRecord(value));
}

/** Names of columns that a query certainly has: as it was told to call them, or as its first SELECT does. */
function columnsOf(query: unknown, given: readonly string[]): ReadonlySet<unknown> {
  if (given.length > 0) return new Set(given);
  const select = isRecord(query) ? (query['SelectStmt'] ?? query) : undefined;
  if (!isRecord(select)) return new Set();
  if (isRecord(select['larg'])) return columnsOf(select['larg'], []);
  return new Set(
    recordsOf(select['targetList']).flatMap(({ ResTarget: target }) => {
      const { name, val: value } = isRecord(target) ? target : {};
      const column = isRecord(value) ? value['ColumnRef'] : undefined;
      return name ?? (isRecord(column) ? namesIn(column['fields']).slice(-1) : []);
    }),
  );
}

/** The grammar leaves some to what they mean. */
function operatorsOf({
  A_Expr: expression,
  SubLink: link,
  SortBy: sort,
  CaseExpr: choice,
  JoinExpr: join,
}: Readonly<Record<string, unknown>>) {
  if (isRecord(expression)) {
    return String(expression['kind']).includes('BETWEEN')
      ? ['<', '<=', '>', '>=']
      : [qualified(expression['name'])];
  }
  if (isRecord(link)) return link['operName'] === undefined ? ['='] : [qualified(link['operName'])];
  if (isRecord(sort)) return sort['useOp'] === undefined ? [] : [qualified(sort['useOp'])];
  const isEqual =
    (isRecord(choice) && choice['arg'] !== undefined) ||
    (isRecord(join) && (join['usingClause'] ?? join['isNatural']) !== undefined);
  return isEqual ? ['='] : [];
}

function namesIn(parts: unknown): string[] {
  return recordsOf(parts).flatMap(
    ({ String: part }) => (part as { sval?: string } | undefined)?.sval ?? [],
  );
}

function qualified(parts: unknown): string {
  const names = namesIn(parts);
  return (names[0] === 'pg_catalog' ? names.slice(1) : names).join('.');
}
