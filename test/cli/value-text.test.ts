import { expect, test } from 'vitest';
import { formatValue } from '../../src/cli/terminal/value-text.ts';

test('a number has the digits that a double has for sure; the rest is YAML on one line', () => {
  expect(
    [20849.349999999973, 7225.40000000001, 0.1 + 0.2, 1 / 3, 13500, -2.5].map(formatValue),
  ).toEqual(['20849.35', '7225.4', '0.3', '0.333333333333333', '13500', '-2.5']);
  expect(formatValue({ of: 'amount', agg: 'sum' })).toBe('{agg: sum, of: amount}');
  expect(formatValue('as it is')).toBe('as it is');
});
