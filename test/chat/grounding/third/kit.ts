import type { QueryEvidence } from '../../../../src/llm/port/tool-call.ts';
import { writer } from '../blind/answer.ts';

export const withSql = (sql: string, evidence: QueryEvidence): QueryEvidence => ({
  ...evidence,
  sql,
});

/** The numbers of a language in which the percent sign stands after `gap`. */
export function speech(locale: string, gap: string) {
  const { n, p, s } = writer(locale);
  const percent = (fraction: number, digits = 1) => p(fraction, digits, `${gap}%`);
  return {
    n,
    s,
    p: percent,
    /** Percent with its sign: +4.2%, −0.3%. */
    sp: (fraction: number, digits = 1) =>
      percent(Math.abs(fraction), digits).replace('{', fraction < 0 ? '{−' : '{+'),
    /** A number with its sign. */
    sn: (value: number, digits = 0) =>
      n(Math.abs(value), digits).replace('{', value < 0 ? '{−' : '{+'),
  };
}

/** A fraction of a whole number, rounded to a whole number. */
export const part = (whole: number, fraction: number) => Math.round(whole * fraction);

export const column = (rows: readonly (readonly (string | number)[])[], index: number) =>
  rows.reduce((total, row) => total + Number(row[index]), 0);
