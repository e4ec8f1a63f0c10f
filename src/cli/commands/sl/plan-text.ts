import type { Outline } from '../../../semantic/emit/outline.ts';

/** The plan of a query as lines, from the rows that it reads to the rows that it returns. */
export function planLines(plan: Outline): readonly string[] {
  const { blocks, merge, columns, computed = [], having, order, limit } = plan;
  const results = columns.map(({ name, is }) => `${name} = ${is}`);
  return [
    ...blocks.flatMap(blockLines),
    ...labelLines('merge', merge),
    ...labelLines('result', results),
    ...labelLines(
      'over that',
      computed.map(({ column, is }) => `${column}: ${is}`),
    ),
    ...labelLines('having', having),
    ...labelLines('order by', order),
    ...(limit === undefined ? [] : labelLines('limit', [String(limit)])),
  ];
}

/** One block reads the rows of one fact. */
function blockLines(block: Outline['blocks'][number], index: number): readonly string[] {
  const joins = block.joins.map(
    ({ path, to, kind, on }) =>
      `${path} → ${to} (${kind === 'left' ? 'keeps rows without a match' : 'only rows with a match'}) on ${on}`,
  );
  const existsFilters = block.semi_joins.map(
    ({ path, to, on, where }) => `${path} → ${to} on ${on} has ${where}`,
  );
  return [
    joinLines(`block ${index + 1}: rows of ${block.rows_of}`),
    ...labelLines('join', joins),
    ...labelLines('where', block.filters),
    ...labelLines('where any', existsFilters),
    ...labelLines('group by', block.group_by.map(columnText)),
    ...labelLines('compute', block.values.map(columnText)),
    ...labelLines('rule', block.rules),
  ];
}

function columnText({ column, is }: { readonly column: string; readonly is: string }): string {
  return `${column} = ${is}`;
}

function labelLines(label: string, items: readonly string[]): readonly string[] {
  return items.map((item) => joinLines(`  ${label.padEnd(9)} ${item}`));
}

/** The lines are printed as SQL comments, so a name must not end the comment with a line break. */
function joinLines(text: string): string {
  return text.replaceAll(/[\r\n\u2028\u2029\v\f\u0085]+/g, ' ');
}
