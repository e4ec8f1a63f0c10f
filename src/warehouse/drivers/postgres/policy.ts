import { hasSqlDetails, parse } from 'libpg-query';
import { messageOf } from '../../../lib/error.ts';
import { wordsOf } from '../../../lib/words.ts';
import { isRecord, lineAndColumn } from '../../../sql/analyzer.ts';
import type { GatePolicy } from '../../driver.ts';
import { refused, unparsed } from '../../failure.ts';
import { notListed, onlyOne, recordsOf, statementFacts, type TreeReading } from '../../statement-facts.ts';
import { postgresFunctions } from './functions.ts';

const tags = wordsOf(new URL('nodes.txt', import.meta.url));
const systemTypes = wordsOf(new URL('types.txt', import.meta.url));
const systemOperators = wordsOf(new URL('operators.txt', import.meta.url));

export interface PostgresPlace {
  readonly database: string;
  /** Where the engine looks for a table without schema. */
  readonly searchPath: readonly string[];
  /** Names of system functions that a user's function may stand in for. */
  readonly shadowed: readonly string[];
  /** Names of operators of users. */
  readonly operators: readonly string[];
  /** Names of functions that one argument is enough for, which `(x).f` calls; and of those that take a row, which `t.f` calls. */
  readonly ofOne: readonly string[];
  readonly ofRow: readonly string[];
  /** Types beyond the system's that only compute, with and without their schema. */
  readonly ownTypes: readonly string[];
  /** Names of types that a cast may run a user's code for. */
  readonly castTypes: readonly string[];
}

/** Postgres's own parser. */
export function postgresPolicy(place: PostgresPlace): GatePolicy {
  const { database, searchPath, shadowed } = place;
  const useIn = usesOf(place);
  return {
    functions: new Set([...postgresFunctions].filter((name) => !shadowed.includes(name))),
    async inspect(sql) {
      const tree = await onlyQuery(sql);
      return statementFacts(tree, { ...shape, use: useIn(calledRanges(tree)) });
    },
    means(written, table) {
      if (written.catalog !== undefined && written.catalog !== database) return false;
      if (written.table !== table.table) return false;
      if (written.schema !== undefined) return written.schema === table.schema;
      // The system's catalogs come first on every search path.
      return searchPath.includes(table.schema) && !written.table.startsWith('pg_');
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
    throw unparsed(`Postgres cannot parse it: ${messageOf(error)}${placeOf(error, sql)}`);
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
  fold: (name) => name,
};

/** What runs a function without the node of a call: operators, casts, and fields that are no columns. */
function usesOf({ operators, ofOne, ofRow, ownTypes, castTypes, shadowed }: PostgresPlace) {
  const [own, one, row] = [new Set(operators), new Set(ofOne), new Set(ofRow)];
  const types = new Set([...systemTypes, ...ownTypes].filter((name) => !castTypes.includes(name.slice(name.lastIndexOf('.') + 1))));
  const isCalled = (name: string): boolean => one.has(name) && (!types.has(name) || shadowed.includes(name));
  const calledOn = (ranges: ReadonlySet<unknown>, fields: readonly string[]): string[] => {
    const mayBeValue = ranges.has(fields.at(-2)) || ranges.has(undefined);
    return fields.slice(1).filter((name) => row.has(name) || (mayBeValue && isCalled(name)));
  };
  return (ranges: ReadonlySet<unknown>): TreeReading['use'] =>
    (node) => {
      if (node['intoClause'] !== undefined) throw refused('node', 'SELECT INTO.');
      const unlisted = Object.keys(node).find((tag) => /^[A-Z]/.test(tag) && !tags.has(tag));
      if (unlisted !== undefined) throw notListed(unlisted);
      const operator = operatorsOf(node).find((name) => own.has(name) || !systemOperators.has(name));
      if (operator !== undefined) throw refused('function', `the operator ${operator} is not one of the system's alone.`);
      const written = node['typeName'] ?? node['TypeName'];
      const type = isRecord(written) ? qualified(written['names']) : undefined;
      if (type !== undefined && !types.has(type)) throw refused('function', `the type ${type} is not on the list of those to cast to.`);
      const { FuncCall: call, RangeVar: range, ColumnRef: column, A_Indirection: part } = node;
      return {
        function: [
          ...(isRecord(call) ? [qualified(call['funcname'])] : []),
          ...(isRecord(column) ? calledOn(ranges, namesIn(column['fields'])) : []),
          ...(isRecord(part) ? namesIn(part['indirection']).filter(isCalled) : []),
        ],
        ...(isRecord(range) && { table: { catalog: range['catalogname'], schema: range['schemaname'], table: range['relname'] } }),
      };
    };
}

/** Names of functions in FROM, undefined for one without alias: their row may be a plain value, on which `x.f` calls any function of one argument. */
function calledRanges(tree: unknown): ReadonlySet<unknown> {
  const ranges = new Set<unknown>();
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const range = isRecord(value) ? value['RangeFunction'] : undefined;
    if (isRecord(range)) ranges.add(isRecord(range['alias']) ? range['alias']['aliasname'] : undefined);
    for (const part of Object.values(value)) visit(part);
  };
  visit(tree);
  return ranges;
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
    return String(expression['kind']).includes('BETWEEN') ? ['<', '<=', '>', '>='] : [qualified(expression['name'])];
  }
  if (isRecord(link)) return link['operName'] === undefined ? ['='] : [qualified(link['operName'])];
  if (isRecord(sort)) return sort['useOp'] === undefined ? [] : [qualified(sort['useOp'])];
  const isEqual =
    (isRecord(choice) && choice['arg'] !== undefined) || (isRecord(join) && (join['usingClause'] ?? join['isNatural']) !== undefined);
  return isEqual ? ['='] : [];
}

function namesIn(parts: unknown): string[] {
  return recordsOf(parts).flatMap(({ String: part }) => (part as { sval?: string } | undefined)?.sval ?? []);
}

function qualified(parts: unknown): string {
  const names = namesIn(parts);
  return (names[0] === 'pg_catalog' ? names.slice(1) : names).join('.');
}
