import { shortHash } from '../../lib/hash.ts';
import type { Dialect } from '../../sql/dialect.ts';
import { splitSqlParts } from '../../sql/sql-parts.ts';

/** Stands for every literal in a template. */
const literalMark = '?';

/**
 * The statement without what it says about single rows: `?` for each literal, no comments, one
 * space for white space. Statements with the same template ask for the same thing.
 */
export function statementTemplate(sql: string, dialect: Pick<Dialect, 'quote'>): string {
  const pieces = [...splitSqlParts(sql, { hasDollarQuotes: true })].map(({ kind, text }) => {
    if (kind === 'comment') return ' ';
    if (kind === 'quoted') return isQuotedName(text, dialect) ? text : ` ${literalMark} `;
    return text.replaceAll(/\$\d+|\b(?:0x[0-9a-f]+|\d[\w.]*)/gi, literalMark);
  });
  return pieces
    .join('')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/(?:\? ?, ?){1,10000}\?/g, literalMark)
    .trim();
}

/** Names a template, for people and for `exclude_statements`. */
export function templateId(template: string): string {
  return shortHash(template, 12);
}

/** True for `"name"`, or for a name in the quotes of a dialect whose double quotes hold texts. */
function isQuotedName(text: string, { quote }: Pick<Dialect, 'quote'>): boolean {
  const first = text.charAt(0);
  return first === quote('x').charAt(0);
}

/** The literal that stands where a log has only a mark: nobody knows its value. */
const unknownLiteral = '?';

/** The statement as a parser reads it: a literal of unknown value for each `$1` or `?`. */
export function parseableStatement(sql: string): string {
  const parts = [...splitSqlParts(sql, { hasDollarQuotes: true })];
  const hasNumberedMarks = parts.some(({ kind, text }) => kind === 'code' && /\$\d/.test(text));
  const mark = hasNumberedMarks ? /\$\d+/g : /\?/g;
  return parts
    .map(({ kind, text }) => {
      if (kind === 'comment') return ' ';
      if (kind === 'quoted') return text;
      // The parser reads `::interval AND` as an interval with a unit.
      return text.replaceAll(mark, `'${unknownLiteral}'`).replaceAll(/::\s*interval\b/gi, '::text');
    })
    .join('');
}
