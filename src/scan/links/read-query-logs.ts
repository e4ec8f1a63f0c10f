import { readFile } from 'node:fs/promises';
import { extname, resolve } from 'node:path';
import { z } from 'zod';
import { parseJson } from '../../lib/json.ts';
import { errorMessage, UserError } from '../../lib/error.ts';

/** Statements of different shape that are read at most: the first ones. */
const mostStatements = 20_000;

const called = z.looseObject({
  query: z.string().optional(),
  query_text: z.string().optional(),
  sql: z.string().optional(),
});

/**
 * The statements of query logs, each shape once whatever its literals: files of SQL with a `;` after each statement, or `.jsonl`
 * with an object a line whose `query`, `query_text` or `sql` has one. Paths are relative to `dir`. Throws `query_log_unreadable`.
 */
export async function statementsOf(
  paths: readonly string[],
  dir: string,
): Promise<readonly string[]> {
  const shapes = new Map<string, string>();
  for (const path of paths) {
    const text = await readLog(resolve(dir, path), path);
    for (const statement of extname(path) === '.jsonl' ? ofLines(text, path) : split(text)) {
      if (shapes.size >= mostStatements) return [...shapes.values()];
      const shape = shapeOf(statement);
      if (shape !== '' && !shapes.has(shape)) shapes.set(shape, statement);
    }
  }
  return [...shapes.values()];
}

async function readLog(path: string, name: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new UserError(
      'query_log_unreadable',
      `The query log ${name} cannot be read: ${errorMessage(error)}`,
      {
        hint: 'Correct scan.query_logs in ktx.yaml: paths are relative to the project.',
      },
    );
  }
}

function ofLines(text: string, name: string): string[] {
  return text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    const record = called.safeParse(parseJson(line)).data;
    const statement = record?.query ?? record?.query_text ?? record?.sql;
    if (statement !== undefined) return [statement];
    throw new UserError(
      'query_log_unreadable',
      `Line ${index + 1} of the query log ${name} has no statement.`,
      {
        hint: 'Write one JSON object a line with the statement in query, query_text or sql; or SQL with a ; after each, in a file that ends in .sql.',
      },
    );
  });
}

const parts =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|--[^\n]*|\/\*[\s\S]*?\*\/|\$(\w*)\$[\s\S]*?\$\1\$|;|[^'"`;$/-]+|[\s\S]/g;

/** By the semicolons outside of quotes and comments. */
function split(text: string): string[] {
  const statements = [''];
  for (const [part] of text.matchAll(parts)) {
    if (part === ';') statements.push('');
    else statements.push((statements.pop() ?? '') + part);
  }
  return statements;
}

const shapeOf = (sql: string): string =>
  sql
    .replaceAll(/'(?:[^']|'')*'|\b\d+(?:\.\d+)?\b/g, '?')
    .replaceAll(/\s+/g, ' ')
    .trim();
