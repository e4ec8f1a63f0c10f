const literal = `'(?:[^']|'')*'(?:::[\\w ]+(?:\\(\\d+\\))?)?`;
const list = `${literal}(?:\\s*,\\s*${literal})*`;
const name = `"(?:[^"]|"")+"|\`[^\`]+\`|\\[[^\\]]+\\]|\\w+`;
const columnName = `\\(*(${name})\\)?(?:::[\\w ]+)?\\)?`;
const inList = new RegExp(
  `CHECK\\s*\\(\\s*${columnName}\\s*IN\\s*\\(\\s*(${list})\\s*\\)\\s*\\)`,
  'gi',
);
const anyArray = new RegExp(
  `CHECK\\s*\\(+${columnName}\\s*=\\s*ANY\\s*\\(+ARRAY\\[(${list})\\]`,
  'gi',
);

/** Values that `CHECK (column IN ('a', 'b'))` declares in a definition text, by column; anything less simple is left out. */
export function checkValues(definition: string): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, readonly string[]>();
  for (const [, written = '', values = ''] of [
    ...definition.matchAll(inList),
    ...definition.matchAll(anyArray),
  ]) {
    const column = /^["`[]/.test(written) ? written.slice(1, -1).replaceAll('""', '"') : written;
    const literals = values.matchAll(/'((?:[^']|'')*)'/g);
    found.set(
      column,
      Array.from(literals, ([, value = '']) => value.replaceAll("''", "'")),
    );
  }
  return found;
}
