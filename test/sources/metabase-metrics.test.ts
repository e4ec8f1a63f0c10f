import { describe, expect, test } from 'vitest';
import { metricOfQuery } from '../../src/sources/metabase/metric-of-query.ts';
import { readCardQuery } from '../../src/sources/metabase/read-query.ts';
import { findDialect } from '../../src/sql/dialects.ts';

const types = new Map([
  [1, { name: 'total', type: 'integer', isCoerced: false }],
  [2, { name: 'status', type: 'string', isCoerced: false }],
  [3, { name: 'ordered_at', type: 'datetime', isCoerced: false }],
  [4, { name: 'day', type: 'date', isCoerced: false }],
  [5, { name: 'seconds', type: 'integer', isCoerced: true }],
  [6, { name: 'order', type: 'integer', isCoerced: false }],
] as const);

/** The metric that a question with this query gives, or why it gives none. */
function metricOf(query: Readonly<Record<string, unknown>>): unknown {
  const dialect = findDialect('duckdb');
  if (dialect === undefined) throw new Error('no dialect');
  const read = readCardQuery({ type: 'query', query: { 'source-table': 9, ...query } });
  if (read.kind !== 'mbql') throw new Error(read.kind);
  const result = metricOfQuery(read, { dialect, fieldOf: (id) => types.get(id as 1) });
  return 'reason' in result ? result.reason : result.metric;
}

const field = (id: number) => ['field', id, null];
const sum = { aggregation: [['sum', field(1)]] };

describe('a question of Metabase as a metric', () => {
  test.each([
    [['=', field(2), 'paid'], "status = 'paid'"],
    [['=', field(2), 'paid', "it's"], "status IN ('paid', 'it''s')"],
    [['!=', field(2), 'void'], "(status NOT IN ('void') OR status IS NULL)"],
    [
      ['between', field(4), '2024-01-01', '2024-01-31'],
      "\"day\" BETWEEN '2024-01-01' AND '2024-01-31'",
    ],
    [['>', field(6), 3], '"order" > 3'],
    [['or', ['is-null', field(2)], ['<', field(1), 0]], '(status IS NULL OR total < 0)'],
  ])('%j is a condition', (filter, where) => {
    expect(metricOf({ ...sum, filter })).toEqual({ agg: 'sum', of: 'total', where });
  });

  // Metabase reads all of 31 January here; a comparison of times would end at its first second.
  test.each([
    [
      ['between', field(3), '2024-01-01', '2024-01-31'],
      'the day or time 2024-01-01 against ordered_at',
    ],
    [['>', field(3), '2024-01-01'], 'the day or time 2024-01-01 against ordered_at'],
    [['=', field(3), '2024-01-01T10:00:00'], 'the day or time 2024-01-01T10:00:00'],
    [['>', field(2), '2024-01'], 'the day or time 2024-01 against status'],
    [['>', field(5), 10], 'a field whose values Metabase converts'],
    [['=', ['field', 3, { 'temporal-unit': 'month' }], '2024-01-01'], 'a field with temporal-unit'],
    [['=', ['field', 2, { 'source-field': 8 }], 'x'], 'a field with source-field'],
    [['=', field(77), 'x'], 'a field that the table does not have'],
    [['=', field(2), null], 'the filter ='],
    [['=', field(2), field(1)], 'a filter with a computed value'],
    [['time-interval', field(3), -30, 'day'], 'the filter time-interval'],
    [['contains', field(2), 'x', { 'case-sensitive': false }], 'the filter contains'],
    [['segment', 4], 'the segment 4, which is not one of the table'],
    [['not', ['is-null', field(2)]], 'an expression'],
  ])('%j is left out', (filter, reason) => {
    expect(metricOf({ ...sum, filter })).toContain(reason);
  });

  test('an aggregate of converted values is left out', () => {
    expect(metricOf({ aggregation: [['max', field(5)]] })).toContain('converts');
    expect(metricOf({ aggregation: [['count']] })).toEqual({ agg: 'count' });
  });
});
