import type { SentValues } from '../../llm/egress/sent-values.ts';
import type { ToolAnswer } from '../tool.ts';

/** For answers whose items are rows of a query: one value of each column in each row. */
export function valuesOfRows(
  connection: string,
  sources: readonly string[],
  columns: readonly { readonly name: string }[],
): ToolAnswer['values'] {
  const source = [...new Set(sources)].sort().join(', ');
  return (rows) =>
    columns.flatMap(({ name: column }): SentValues[] =>
      rows.length === 0 ? [] : [{ connection, source, column, kind: 'row', count: rows.length }],
    );
}
