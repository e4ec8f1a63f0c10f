/**
 * The SQL of a card without what Metabase fills in: `[[AND day > {{from}}]]` is optional and left
 * out, `{{#7-orders}}` is the query of card 7, and other tags count as NULL.
 */
export function withoutTags(sql: string): string {
  const required = replaceBetween(sql, ['[[', ']]'], () => '');
  return replaceBetween(required, ['{{', '}}'], (inside) =>
    inside.trim().startsWith('#') ? '(SELECT 1)' : 'NULL',
  );
}

/** Replaces each part between two marks, in linear time. */
function replaceBetween(
  text: string,
  [open, close]: readonly [string, string],
  replace: (inside: string) => string,
): string {
  return text
    .split(open)
    .map((part, index) => {
      const end = part.indexOf(close);
      if (index === 0 || end === -1) return part;
      return replace(part.slice(0, end)) + part.slice(end + close.length);
    })
    .join('');
}
