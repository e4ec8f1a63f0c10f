import type { Dialect } from '../dialect.ts';
import {
  charactersSpliced,
  dateTruncated,
  intervalAdded,
  partExtracted,
  standard,
  standardLiteral,
  textByFunctions,
  shownByRoundTrip,
} from './standard.ts';

export const duckdb: Dialect = {
  ...standard,
  name: 'duckdb',
  analyzer: 'duckdb',
  defaultSchema: 'main',
  ignoresCase: true,
  enforcesKeys: true,
  literal: (value) => standardLiteral(value, (text) => charactersSpliced(text, 'chr')),
  division: '/',
  softWords: {
    current_date: 'today()',
    current_timestamp: 'now()',
    current_time: 'cast(now() as time)',
    localtimestamp: 'cast(now() as timestamp)',
  },
  truncate: dateTruncated,
  datePart: partExtracted({}, (extracted) => extracted),
  add: intervalAdded,
  // The result for a DECIMAL would be rounded to its scale.
  isShown: (expr, timezone) => shownByRoundTrip(expr, timezone),
  percentile: (expr, fraction) => `quantile_cont(CAST(${expr} AS DOUBLE), ${fraction})`,
  discretePercentile: (expr, fraction) => `quantile_disc(${expr}, ${fraction})`,
  text: textByFunctions(
    ['contains', 'starts_with', 'ends_with'],
    (expr) => `CAST(${expr} AS TEXT)`,
  ),
  recursiveWith: 'WITH RECURSIVE',
  statistics: {
    text: (expr, type) =>
      type === 'decimal'
        ? `regexp_replace(CAST(${expr} AS VARCHAR), '[.]0+$', '')`
        : `CAST(${expr} AS VARCHAR)`,
    sketch: (text, size) =>
      `CAST(to_json([substr(printf('%016x', h), 1, 12) FOR h IN min(DISTINCT CASE WHEN ${text} IS NOT NULL THEN hash(${text}) END, ${size})]) AS VARCHAR)`,
    jsonList: (text) => `CAST(to_json(list(${text})) AS VARCHAR)`,
    // TABLESAMPLE reads other rows each time. Here the same vectors of 2048 rows are read again.
    sample: (table, share) =>
      `(SELECT * FROM ${table} WHERE hash(rowid // 2048) % 1000000 < ${Math.round(share * 1e6)}) AS sampled`,
  },
};
