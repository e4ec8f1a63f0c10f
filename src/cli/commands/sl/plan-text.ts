import type { Outline } from '../../../semantic/plan/outline.ts';

/** Lines of a plan, from the rows that are read to those that come back. */
export function planLines({
  blocks,
  merge,
  columns,
  having,
  order,
  limit,
}: Outline): readonly string[] {
  return [
    ...blocks.flatMap((block, index) => blockLines(block, index)),
    ...listed('merge', merge),
    ...listed(
      'result',
      columns.map(({ name, is }) => `${name} = ${is}`),
    ),
    ...listed('having', having),
    ...listed('order by', order),
    ...(limit === undefined ? [] : listed('limit', [String(limit)])),
  ];
}

function blockLines(block: Outline['blocks'][number], index: number): readonly string[] {
  const {
    rows_of: owner,
    joins,
    filters,
    semi_joins: exists,
    group_by: groups,
    values,
    rules,
  } = block;
  const named = ({ column, is }: { readonly column: string; readonly is: string }) =>
    `${column} = ${is}`;
  return [
    oneLine(`block ${index + 1}: rows of ${owner}`),
    ...listed(
      'join',
      joins.map(
        ({ path, to, kind, on }) =>
          `${path} → ${to} (${kind === 'left' ? 'keeps rows without one' : 'only rows with one'}) on ${on}`,
      ),
    ),
    ...listed('where', filters),
    ...listed(
      'where any',
      exists.map(({ path, to, on, where }) => `${path} → ${to} on ${on} has ${where}`),
    ),
    ...listed('group by', groups.map(named)),
    ...listed('compute', values.map(named)),
    ...listed('rule', rules),
  ];
}

function listed(word: string, items: readonly string[]): readonly string[] {
  return items.map((item) => oneLine(`  ${word.padEnd(9)} ${item}`));
}

/** It stands in a comment, whatever is in the names. */
function oneLine(text: string): string {
  return text.replaceAll(/[\r\n\u2028\u2029\v\f\u0085]+/g, ' ');
}
