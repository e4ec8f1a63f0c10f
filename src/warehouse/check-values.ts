const literalPattern = `'(?:[^']|'')*'(?:::[\\w ]+(?:\\(\\d+\\))?)?`;
const literalsPattern = `${literalPattern}(?:\\s*,\\s*${literalPattern})*`;
const namePattern = `"(?:[^"]|"")+"|\`[^\`]+\`|\\[[^\\]]+\\]|\\w+`;
const columnPattern = `\\(*(${namePattern})\\)?(?:::[\\w ]+)?\\)?`;

/** `CHECK (column IN ('a', 'b'))` */
const checkInList = new RegExp(
  `CHECK\\s*\\(\\s*${columnPattern}\\s*IN\\s*\\(\\s*(${literalsPattern})\\s*\\)\\s*\\)`,
  'gi',
);
/** `CHECK (column = ANY (ARRAY['a', 'b']))` */
const checkAnyArray = new RegExp(
  `CHECK\\s*\\(+${columnPattern}\\s*=\\s*ANY\\s*\\(+ARRAY\\[(${literalsPattern})\\]`,
  'gi',
);

/**
 * The values that CHECK constraints in a definition allow, by column. Constraints of any other form
 * are skipped.
 */
export function checkValues(definition: string): ReadonlyMap<string, readonly string[]> {
  const matches = [...definition.matchAll(checkInList), ...definition.matchAll(checkAnyArray)];
  return new Map(
    matches.map(([, column = '', literals = '']) => [unquoteName(column), unquoteAll(literals)]),
  );
}

function unquoteName(name: string): string {
  return /^["`[]/.test(name) ? name.slice(1, -1).replaceAll('""', '"') : name;
}

function unquoteAll(literals: string): string[] {
  const matches = literals.matchAll(/'((?:[^']|'')*)'/g);
  return Array.from(matches, ([, value = '']) => value.replaceAll("''", "'"));
}
