import type { QueryEvidence } from '../../../../src/llm/port/tool-call.ts';

/**
 * An answer as a model would write it. In `text`, `{…}` holds a number, `{m:right~wrong}` a member,
 * `{p:right~wrong}` a period, `{d:right~wrong}` a direction, `{c:right~wrong}` a citation.
 */
export interface BlindAnswer {
  readonly id: string;
  readonly question: string;
  readonly evidence: readonly QueryEvidence[];
  readonly text: string;
}

export function rowsOf(
  id: string,
  columns: string,
  ...rows: readonly (readonly (string | number | null)[])[]
): QueryEvidence {
  return {
    id,
    call: id,
    tool: 'run_sql',
    sql: 'SELECT * FROM t',
    columns: columns.split(' ').map((name) => ({ name })),
    rows,
    truncated: false,
    ms: 1,
  };
}

/** Numbers as a language writes them, in braces. */
export function writer(locale: string) {
  const format = (value: number, digits: number) =>
    new Intl.NumberFormat(locale, {
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
      useGrouping: 'always',
    }).format(value);
  return {
    n: (value: number, digits = 0) => `{${format(value, digits)}}`,
    /** A fraction as percent. */
    p: (fraction: number, digits = 1, sign = ' %') => `{${format(fraction * 100, digits)}${sign}}`,
    /** With a scale behind: 1.8 Mio. */
    s: (value: number, [size, word]: readonly [number, string], digits = 1) =>
      `{${format(value / size, digits)}${word}}`,
  };
}
