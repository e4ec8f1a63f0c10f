import { extname, dirname } from 'node:path';
import { errorMessage, UserError } from '../../lib/error.ts';
import { isRecord, parseJson } from '../../lib/json.ts';
import { splitSqlParts } from '../../sql/sql-parts.ts';
import { readConfinedFile, resolveConfiguredPath } from '../../store/confined-file.ts';
import { readRecordedRow } from '../../warehouse/history/recorded-rows.ts';
import { type LoggedStatement, longestLogged } from '../../warehouse/history/statement-history.ts';

/**
 * Reads the statements of query logs, as they are. A log is a file of SQL with a `;` after each
 * statement, or a `.jsonl` file with one object per line: a row of the history of a warehouse, or
 * any object that has the statement in `query`, `query_text` or `sql`. Paths are relative to `dir`.
 * Throws `query_log_unreadable`.
 */
export async function readQueryLogs(
  paths: readonly string[],
  dir: string,
): Promise<readonly LoggedStatement[]> {
  const logs = await Promise.all(
    paths.map(async (path) => {
      const text = await readLog(dir, path);
      return extname(path) === '.jsonl'
        ? statementsInLines(text, path)
        : splitStatements(text).map((sql) => ({ sql, runs: 1 }));
    }),
  );
  return logs.flat().filter(({ sql }) => sql.trim() !== '' && sql.length <= longestLogged);
}

/** In bytes. */
const largestLog = 200_000_000;

async function readLog(dir: string, name: string): Promise<string> {
  const unreadable = (reason: string) =>
    new UserError('query_log_unreadable', `The query log ${name} cannot be read: ${reason}.`, {
      hint: 'Correct scan.query_logs in ktx.yaml: paths are relative to the project.',
    });
  const path = await resolveConfiguredPath(dir, name);
  if (path === undefined) throw unreadable('there is no such file');
  const limits = { within: dirname(path), maxBytes: largestLog };
  const found = await readConfinedFile(path, limits).catch((error: unknown) => {
    throw unreadable(errorMessage(error));
  });
  if (found.kind === 'read') return found.bytes.toString('utf8');
  throw unreadable(found.kind === 'missing' ? 'there is no such file' : found.reason);
}

function statementsInLines(text: string, name: string): LoggedStatement[] {
  return text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    const row = parseJson(line);
    const statement = isRecord(row) ? readRecordedRow(row) : 'unknown';
    if (statement === undefined) return [];
    if (statement !== 'unknown') return [statement];
    throw new UserError(
      'query_log_unreadable',
      `Line ${index + 1} of the query log ${name} has no statement.`,
      {
        hint: 'Write one JSON object per line, with the statement in query, query_text or sql; or write SQL with a ; after each statement in a file that ends in .sql.',
      },
    );
  });
}

/** Splits at semicolons outside of quotes and comments. */
function splitStatements(text: string): string[] {
  const statements: string[][] = [[]];
  for (const { kind, text: part } of splitSqlParts(text, { hasDollarQuotes: true })) {
    const [first = '', ...more] = kind === 'code' ? part.split(';') : [part];
    statements.at(-1)?.push(first);
    for (const piece of more) statements.push([piece]);
  }
  return statements.map((parts) => parts.join(''));
}
