const literal = `'(?:[^']|'')*'(?:::[\\w ]+(?:\\(\\d+\\))?)?`;
const list = `${literal}(?:\\s*,\\s*${literal})*`;
const name = `"(?:[^"]|"")+"|\`[^\`]+\`|\\[[^\\]]+\\]|\\w+`;
const column = `\\(*(${name})\\)?(?:::[\\w ]+)?\\)?`;
const inList = new RegExp(`CHECK\\s*\\(\\s*${column}\\s*IN\\s*\\(\\s*(${list})\\s*\\)\\s*\\)`, 'gi');
const anyArray = new RegExp(`CHECK\\s*\\(+${column}\\s*=\\s*ANY\\s*\\(+ARRAY\\[(${list})\\]`, 'gi');

/** Values that `CHECK (column IN ('a', 'b'))` declares in a definition text, by column; anything less simple is left out. */
export function checkValues(definition: string): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, readonly string[]>();
  for (const pattern of [inList, anyArray]) {
    for (const [, written = '', values = ''] of definition.matchAll(pattern)) {
      found.set(
        unquoted(written),
        [...values.matchAll(/'((?:[^']|'')*)'/g)].map(([, value = '']) => value.replaceAll("''", "'")),
      );
    }
  }
  return found;
}

function unquoted(written: string): string {
  return /^["`[]/.test(written) ? written.slice(1, -1).replaceAll('""', '"') : written;
}
