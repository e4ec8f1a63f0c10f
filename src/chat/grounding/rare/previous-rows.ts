import type { QueryEvidence } from '../../../llm/port/tool-call.ts';
import type { NumberPlace } from '../context.ts';

/** The row before a named one: `the year before`. */
export function isPrevious(tables: readonly QueryEvidence[], { named }: NumberPlace) {
  return (query: string, row: number): boolean =>
    named(query)?.has(row + 1) === true &&
    tables.some(({ id, rows }) => id === query && hasTime(rows[row + 1]));
}

const hasTime = (row: readonly unknown[] | undefined): boolean =>
  row?.some((cell) => /^(?:19|20|21)\d\d(?:$|-)/.test(String(cell))) === true;
