import { countLines } from '../../lib/line-counter.ts';
import { splitSqlParts } from '../../sql/sql-parts.ts';

export interface CommentedQuery {
  /** The comment above the statement; empty if there is none. */
  readonly question: string;
  readonly sql: string;
  /** Where the statement starts, from 1. */
  readonly line: number;
}

/**
 * The statements of a SQL file, each with the comment above it. A statement that is split wrongly
 * fails when it runs.
 */
export function parseQueryFile(text: string): readonly CommentedQuery[] {
  const queries: CommentedQuery[] = [];
  const lineAt = countLines(text);
  let comments: string[] = [];
  let sql: string[] = [];
  let start = 0;
  const endStatement = (): void => {
    if (sql.length > 0)
      queries.push({
        question: questionFromComments(comments),
        sql: sql.join('').trim(),
        line: lineAt(start),
      });
    [comments, sql] = [[], []];
  };
  const addPart = (part: string, offset: number): void => {
    if (sql.length === 0) start = offset + part.length - part.trimStart().length;
    sql.push(part);
  };
  const addCode = (code: string, offset: number): void => {
    for (const { piece, at } of statementPieces(code, offset)) {
      if (at > offset) endStatement();
      if (sql.length === 0 && beginsWithEmptyLine(piece)) comments = [];
      if (sql.length > 0 || piece.trim() !== '') addPart(piece, at);
    }
  };
  for (const part of splitSqlParts(text, { hasDollarQuotes: true })) {
    if (part.kind === 'code') addCode(part.text, part.start);
    else if (part.kind === 'comment' && sql.length === 0) comments.push(part.text);
    else addPart(part.text, part.start);
  }
  endStatement();
  return queries;
}

/**
 * The pieces of code between semicolons, with their offsets. Each but the first ends the statement
 * before it.
 */
function statementPieces(code: string, offset: number): { piece: string; at: number }[] {
  let at = offset;
  return code.split(';').map((piece) => {
    const found = { piece, at };
    at += piece.length + 1;
    return found;
  });
}

/** An empty line separates a heading of the file from the comment of a statement. */
function beginsWithEmptyLine(code: string): boolean {
  const space = code.slice(0, code.length - code.trimStart().length);
  return space.indexOf('\n') !== space.lastIndexOf('\n');
}

function questionFromComments(comments: readonly string[]): string {
  return comments
    .flatMap((comment) => comment.split('\n'))
    .map(commentWords)
    .filter((line) => line !== '')
    .join(' ');
}

/** A line of a comment without the marks of the comment. */
function commentWords(line: string): string {
  const begun = line
    .trim()
    .replace(/^\/\*/, '')
    .replace(/^[\s*-]+/, '');
  if (!begun.endsWith('*/')) return begun.trim();
  let end = begun.length - 1;
  while (begun[end - 1] === '*') end -= 1;
  return begun.slice(0, end).trim();
}
