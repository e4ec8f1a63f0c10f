import { extname, dirname } from 'node:path';
import { z } from 'zod';
import { errorMessage, UserError } from '../../lib/error.ts';
import { parseJson } from '../../lib/json.ts';
import { splitSqlParts } from '../../sql/sql-parts.ts';
import { readConfinedFile, resolveConfiguredPath } from '../../store/confined-file.ts';

/** In characters. A longer statement is data, and would take long to parse. */
const longestStatement = 100_000;

/** How many statements of different shape are read at most. */
const maxStatements = 20_000;

const logRecordSchema = z.looseObject({
  query: z.string().optional(),
  query_text: z.string().optional(),
  sql: z.string().optional(),
});

/**
 * Reads the statements of query logs, one for each shape: statements that differ only in literals
 * count once. A log is a file of SQL with a `;` after each statement, or a `.jsonl` file with one
 * object per line that has the statement in `query`, `query_text` or `sql`. Paths are relative to
 * `dir`. Throws `query_log_unreadable`.
 */
export async function readQueryLogs(
  paths: readonly string[],
  dir: string,
): Promise<readonly string[]> {
  const byShape = new Map<string, string>();
  for (const path of paths) {
    const text = await readLog(dir, path);
    const statements =
      extname(path) === '.jsonl' ? statementsInLines(text, path) : splitStatements(text);
    for (const statement of statements.filter(({ length }) => length <= longestStatement)) {
      if (byShape.size >= maxStatements) return [...byShape.values()];
      const shape = statementShape(statement);
      if (shape !== '' && !byShape.has(shape)) byShape.set(shape, statement);
    }
  }
  return [...byShape.values()];
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

function statementsInLines(text: string, name: string): string[] {
  return text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    const record = logRecordSchema.safeParse(parseJson(line)).data;
    const statement = record?.query ?? record?.query_text ?? record?.sql;
    if (statement !== undefined) return [statement];
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

/** The statement with `?` for each literal and one space for white space. */
const statementShape = (sql: string): string =>
  sql
    .replaceAll(/'(?:[^']|'')*'|\b\d+(?:\.\d+)?\b/g, '?')
    .replaceAll(/\s+/g, ' ')
    .trim();
