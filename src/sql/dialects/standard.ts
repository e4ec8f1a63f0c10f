/** Pieces of standard SQL that several dialects share. */
export function quoted(identifier: string): string {
  return `"${identifier.replaceAll('"', '""')}"`;
}

/** In parentheses, except for a plain name. */
export function operand(sql: string): string {
  return /^("[^"]*"|\w+)$/.test(sql) ? sql : `(${sql})`;
}

export function standardLiteral(value: string | number | boolean | null, textLiteral: (text: string) => string): string {
  if (value === null) return 'NULL';
  if (typeof value === 'boolean') return value ? 'TRUE' : 'FALSE';
  if (typeof value === 'string') return textLiteral(value);
  if (!Number.isFinite(value)) throw new RangeError(`${value} has no SQL literal`);
  return value < 0 ? `(${value})` : String(value);
}

/** A quoted string in which NUL, which would end the statement's text, is spelled as a call of `characterFunction`. */
export function charactersSpliced(text: string, characterFunction: string): string {
  const pieces = text.split('\0').map((piece) => `'${piece.replaceAll("'", "''")}'`);
  return pieces.length === 1 ? `${pieces[0]}` : `(${pieces.join(` || ${characterFunction}(0) || `)})`;
}
