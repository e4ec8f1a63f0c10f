import { describe, expect, test } from 'vitest';
import type { BackendName } from '../../src/llm/backends.ts';
import { checkPrices, combineSpending, openSpending } from '../../src/llm/governor/spending.ts';

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

describe('a limit in dollars', () => {
  const open = (limit: number | undefined) => openSpending({ limit, key: 'llm.budget', prices });

  test('stops the calls once it is spent to the cent', () => {
    const spending = open(2);
    spending.add(1.5);
    expect([spending.stop(), spending.left()]).toEqual([undefined, 0.5]);
    spending.add(0.5);
    expect(spending.stop()).toMatchObject({ code: 'llm_budget_spent', exitCode: 3 });
    expect(spending.left()).toBe(0);
  });

  test('stops the calls once a cost is unknown, however little is spent', () => {
    const spending = open(2);
    spending.add(null, 'the model has no price');
    expect(spending.stop()).toMatchObject({
      code: 'llm_budget_unknown',
      message: 'llm.budget is set, but the cost of a call is unknown: the model has no price.',
    });
    const unlimited = open(undefined);
    unlimited.add(null);
    unlimited.add(1000);
    expect(unlimited.stop()).toBeUndefined();
  });

  test('of a conversation and of its run: whichever is reached first', () => {
    const add = (runLimit: number | undefined, limit: number | undefined) => {
      const [run, session] = [open(runLimit), open(limit)];
      const both = combineSpending(run, session);
      both.add(1);
      return [both.stop()?.code, both.left(), run.left(), session.left()];
    };
    expect(add(1, 5)).toEqual(['llm_budget_spent', 0, 0, 4]);
    expect(add(5, 1)).toEqual(['llm_budget_spent', 0, 4, 0]);
    expect(add(5, 3)).toEqual([undefined, 2, 4, 2]);
    expect(add(undefined, undefined)).toEqual([undefined, undefined, undefined, undefined]);
  });

  test('needs the price of each model, unless the backend reports its costs', () => {
    const check = (limit: number | undefined, backend: BackendName, model: string) => () =>
      checkPrices(backend, ['large', model], { limit, key: 'llm.budget', prices });
    expect(check(1, 'anthropic', 'small')).toThrow(
      'llm.budget is set, and llm.prices has no price for small.',
    );
    expect(check(1, 'anthropic', 'large')).not.toThrow();
    expect(check(undefined, 'anthropic', 'small')).not.toThrow();
    expect(check(1, 'claude-code', 'small')).not.toThrow();
    expect(check(1, 'none', 'small')).not.toThrow();
  });
});
