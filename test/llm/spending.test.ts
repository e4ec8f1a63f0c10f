import { expect, test } from 'vitest';
import { openSpending } from '../../src/llm/governor/spending.ts';

const prices = { large: { input: 3, output: 15, cache_read: 0.3, cache_write: 3.75 } };

test('every kind of token has its price, in US dollars per million', () => {
  const spending = openSpending({ limit: 1, key: 'llm.budget_usd', prices });
  const none = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  const million = 1_000_000;
  expect(spending.priceOf('large', { ...none, input: million })).toBeCloseTo(3);
  expect(spending.priceOf('large', { ...none, output: million })).toBeCloseTo(15);
  expect(spending.priceOf('large', { ...none, cacheRead: million })).toBeCloseTo(0.3);
  expect(spending.priceOf('large', { ...none, cacheWrite: million })).toBeCloseTo(3.75);
});
