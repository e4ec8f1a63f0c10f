import { createHash } from 'node:crypto';
import type { ResultTable } from '../../../src/eval/grade/rows/result-table.ts';

/** What a person says who reads the question, the golden rows and the options of the case. */
export type Verdict = 'right' | 'wrong' | 'weak';

export interface RowsPair {
  readonly id: string;
  readonly golden: ResultTable;
  readonly answer: ResultTable;
  readonly match?: object;
  readonly verdict: Verdict;
}

export interface NumberPair {
  readonly id: string;
  readonly text: string;
  readonly number: { readonly value: number; readonly rel?: number; readonly abs?: number };
  readonly verdict: Verdict;
}

export interface RefusalPair {
  readonly id: string;
  readonly question: string;
  readonly text: string;
  /** The input of `cannot_answer`, if the agent called it. */
  readonly recorded?: object;
  readonly verdict: Verdict;
}

export interface WordsPair {
  readonly id: string;
  readonly question: string;
  readonly text: string;
  readonly tables: readonly ResultTable[];
  readonly verdict: Verdict;
}

/** The first text has the columns, `name:type` with spaces between; then the rows. */
export function table(columns: string, ...rows: readonly (readonly unknown[])[]): ResultTable {
  const parts = columns.split(' ').map((column) => column.split(':'));
  return { columns: parts.map(([name = '', type]) => ({ name, type })), rows };
}

/** The half by which the graders were mended, or that which was set aside before the first run. */
export function halfOf(id: string): 'tuned' | 'aside' {
  return (createHash('sha256').update(id).digest()[0] ?? 0) % 2 === 0 ? 'tuned' : 'aside';
}
