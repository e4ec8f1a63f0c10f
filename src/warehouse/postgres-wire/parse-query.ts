// oxlint-disable-next-line import/no-unassigned-import -- it works by being loaded first
import '../../sql/wasm-memory.ts';
import { hasSqlDetails, parse } from 'libpg-query';
import { errorMessage } from '../../lib/error.ts';
import { isRecord } from '../../lib/json.ts';
import { readWordList } from '../../lib/word-list.ts';
import { lineAndColumn } from '../../sql/analyzer.ts';
import {
  otherStatementRefusal,
  recordsIn,
  requireOneStatement,
  type TreeReader,
} from '../gate/statement-facts.ts';
import { gateRefusal, sqlSyntaxError } from '../warehouse-error.ts';

/** Tags of the parser's nodes that only read. */
export const readingNodes = readWordList(new URL('nodes.txt', import.meta.url));

/** How the parser writes WITH. */
export const treeShape: Omit<TreeReader, 'readNode'> = {
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
 * The parser reads such a run again at each `/*` in it, which takes minutes for 100,000 characters.
 */
const longOperator = /[~!@#^&|`?+\-*/%<>=]{1000}/;

/**
 * The tree of the only statement: a SELECT, or the SELECT inside EXPLAIN. Throws `gate_refused` for
 * another statement, and `sql_syntax`.
 */
export async function parseQuery(sql: string): Promise<unknown> {
  if (longOperator.test(sql))
    throw gateRefusal('parse', 'it has 1000 operator characters in a row, such as /*/*/*.');
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
  throw otherStatementRefusal(kind.replace(/Stmt$/, '').replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' '));
}

function positionText(error: unknown, sql: string): string {
  const offset = hasSqlDetails(error) ? error.sqlDetails?.cursorPosition : undefined;
  if (offset === undefined) return '';
  const { line, column } = lineAndColumn(sql, offset);
  return ` (line ${line}, column ${column})`;
}
