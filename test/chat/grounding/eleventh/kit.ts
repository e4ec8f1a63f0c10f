import type { QueryEvidence } from '../../../../src/llm/port/tool-call.ts';
import { rowsOf } from '../blind/answer.ts';
import { speech, withSql } from '../third/kit.ts';

export const en = speech('en-US', '');
export const usd = (value: number, digits = 0) => `$${en.n(value, digits)}`;
export const millions = [1e6, 'M'] as const;
export const thousands = [1e3, 'K'] as const;

/** What a statement gave: its SQL, its columns, its rows. */
export const gave = (
  sql: string,
  columns: string,
  ...rows: readonly (readonly (string | number | null)[])[]
): QueryEvidence => withSql(sql, rowsOf('q1', columns, ...rows));

/** The same as the answer's n-th statement. */
export const nth = (place: number, evidence: QueryEvidence): QueryEvidence => ({
  ...evidence,
  id: `q${place}`,
  call: `q${place}`,
});
