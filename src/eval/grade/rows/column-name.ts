/**
 * A name without what says nothing: case, spaces, underscores, quotes, and the dataset before it.
 * `Net Revenue`, `net_revenue` and `orders.net_revenue` are one name.
 */
export function plainName(name: unknown): string {
  const text = String(name)
    .normalize('NFC')
    .toLowerCase()
    .replaceAll(/["`[\]]/g, '');
  const isExpression = /[()+*/\s]/.test(text);
  const [last = ''] = isExpression ? [text] : text.split('.').slice(-1);
  return last.replaceAll(/[\s_-]+/g, ' ').trim();
}
