import { describe, expect, test } from 'vitest';
import { figureGroups, groupRows } from '../../src/eval/report/figure-groups.ts';
import {
  differenceInterval,
  meanInterval,
  signTest,
  wilsonInterval,
} from '../../src/eval/report/statistics.ts';
import { summarizeCases } from '../../src/eval/report/summary.ts';
import { worstOutcome, type EvalOutcome } from '../../src/eval/run/outcome.ts';
import type { CaseResult } from '../../src/eval/run/run-schema.ts';
import { Dice } from '../conformance/seeded.ts';

/** The probability of `hits` in `of` trials. */
function binomial(hits: number, of: number, rate: number): number {
  let ways = 1;
  for (let index = 1; index <= hits; index += 1) ways = (ways * (of - index + 1)) / index;
  return ways * rate ** hits * (1 - rate) ** (of - hits);
}

/** A standard normal value (Box and Muller). */
function normal(dice: Dice): number {
  return Math.sqrt(-2 * Math.log(1 - dice.next())) * Math.cos(2 * Math.PI * dice.next());
}

const rates = Array.from({ length: 19 }, (_, index) => (index + 1) / 20);
const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length;
const covers = (interval: { low?: number; high?: number } | undefined, truth: number) =>
  (interval?.low ?? 1) <= truth + 1e-9 && truth <= (interval?.high ?? 0) + 1e-9;

describe('the interval of a rate', () => {
  test('ends where the score test would reject', () => {
    for (const [passed, of] of [
      [3, 9],
      [22.33, 43],
      [1, 2000],
      [1999, 2000],
    ] as const) {
      const { value = 0, low = 0, high = 0 } = wilsonInterval(passed, of) ?? {};
      for (const end of [low, high])
        expect(Math.abs(value - end) / Math.sqrt((end * (1 - end)) / of)).toBeCloseTo(1.959964, 5);
    }
  });

  test.each([10, 43, 200])('covers the truth 95 times of 100, for %i cases', (of) => {
    const coverage = rates.map((rate) =>
      Array.from({ length: of + 1 }, (_, hits) =>
        covers(wilsonInterval(hits, of), rate) ? binomial(hits, of, rate) : 0,
      ).reduce((sum, share) => sum + share, 0),
    );
    expect(mean(coverage)).toBeGreaterThan(0.945);
    expect(mean(coverage)).toBeLessThan(0.965);
    expect(Math.min(...coverage)).toBeGreaterThan(0.9);
  });

  test('covers it too when cases are asked three times and each mostly goes one way', () => {
    const dice = new Dice(11);
    const hits = Array.from({ length: 2000 }, () => {
      // Half of the cases nearly always pass, half nearly never: the truth is one half.
      const cases = Array.from({ length: 43 }, (_, index) => {
        const rate = dice.next() < 0.5 ? 0.97 : 0.03;
        const outcomes = [0, 1, 2].map(() => (dice.next() < rate ? 'pass' : 'fail') as EvalOutcome);
        return caseOf(`c${index}`, outcomes);
      });
      const attempts = cases.flatMap((result) => result.attempts);
      const passed = attempts.filter(({ outcome }) => outcome === 'pass').length;
      return {
        byCase: covers(summarizeCases(cases).accuracy, 0.5),
        byAttempt: covers(wilsonInterval(passed, attempts.length), 0.5),
      };
    });
    const share = (of: 'byCase' | 'byAttempt') => mean(hits.map((hit) => Number(hit[of])));
    expect(share('byCase')).toBeGreaterThan(0.94);
    // What the figures are not: an interval over attempts takes repeats for new evidence.
    expect(share('byAttempt')).toBeLessThan(0.8);
  });
});

/** The share of Student's t within the quantile: Simpson's rule over its density. */
function studentShare(quantile: number, freedom: number): number {
  const density = (x: number) => (1 + x ** 2 / freedom) ** (-(freedom + 1) / 2);
  const simpson = (to: number, steps: number) => {
    const width = to / steps;
    let sum = density(0) + density(to);
    for (let index = 1; index < steps; index += 1)
      sum += density(index * width) * (index % 2 === 1 ? 4 : 2);
    return (sum * width) / 3;
  };
  // The integral to infinity, by x = tan: for one degree of freedom half of pi.
  const steps = 20_000;
  let whole = 0;
  for (let index = 0; index < steps; index += 1) {
    const angle = ((index + 0.5) * Math.PI) / 2 / steps;
    whole += (density(Math.tan(angle)) / Math.cos(angle) ** 2) * (Math.PI / 2 / steps);
  }
  return simpson(quantile, 2000) / whole;
}

describe('the interval of a mean', () => {
  test.each([1, 2, 3, 5, 10, 29, 30, 31, 40, 100, 1999])(
    'has the quantile of t with %i degrees of freedom',
    (freedom) => {
      const values = Array.from({ length: freedom + 1 }, (_, index) => index % 7);
      const { value = 0, high = 0 } = meanInterval(values) ?? {};
      const variance =
        values.reduce((sum, own) => sum + (own - value) ** 2, 0) / (values.length - 1);
      const quantile = (high - value) / Math.sqrt(variance / values.length);
      expect(studentShare(quantile, freedom)).toBeCloseTo(0.95, 4);
    },
  );

  test.each([3, 8, 40])('covers the truth 95 times of 100, for %i values', (count) => {
    const dice = new Dice(count);
    const hits = Array.from({ length: 5000 }, () =>
      covers(meanInterval(Array.from({ length: count }, () => 5 + normal(dice))), 5),
    );
    expect(Math.abs(mean(hits.map(Number)) - 0.95)).toBeLessThan(0.01);
  });
});

describe('the interval of a difference', () => {
  /** By hand: 12 pairs, 5 better and 1 worse: 4/14, variance 8/14 - (4/14)², t of 13 is 2.16. */
  test('is that of Bonett and Price', () => {
    const differences = [1, 1, 1, 1, 1, -1, 0, 0, 0, 0, 0, 0];
    const half = 2.16 * Math.sqrt((8 / 14 - (4 / 14) ** 2) / 14);
    expect(differenceInterval(differences)).toMatchObject({
      value: expect.closeTo(4 / 12, 9),
      low: expect.closeTo(4 / 14 - half, 4),
      high: expect.closeTo(4 / 14 + half, 4),
    });
  });

  test('has a width where no pair differs, and where all differ alike', () => {
    const same = differenceInterval([0, 0, 0, 0, 0]);
    expect([same?.value, same?.low, same?.high].map((end) => end?.toFixed(2))).toEqual([
      '0.00',
      '-0.49',
      '0.49',
    ]);
    const all = differenceInterval([1, 1, 1]);
    expect(all).toMatchObject({ value: 1, high: 1 });
    expect(all?.low).toBeLessThan(0.2);
    expect(differenceInterval([])).toBeUndefined();
  });

  /** All outcomes of `count` pairs with their probabilities, exactly. */
  test.each([8, 20, 40])('covers the truth at least 94 times of 100, for %i pairs', (count) => {
    const coverage = [
      [0.05, 0.05],
      [0.2, 0.1],
      [0.3, 0.05],
      [0.45, 0.1],
      [0.25, 0.25],
      [0.6, 0.05],
    ].map(([better = 0, worse = 0]) => {
      let share = 0;
      for (let up = 0; up <= count; up += 1)
        for (let down = 0; down <= count - up; down += 1) {
          const probability =
            binomial(up, count, better) * binomial(down, count - up, worse / (1 - better));
          const values = Array.from({ length: count }, (_, index) =>
            index < up ? 1 : index < up + down ? -1 : 0,
          );
          if (covers(differenceInterval(values), better - worse)) share += probability;
        }
      return share;
    });
    expect(mean(coverage)).toBeGreaterThan(0.945);
    expect(Math.min(...coverage)).toBeGreaterThan(0.93);
  });
});

describe('the sign test', () => {
  test('is the count of all ways in which chance alone differs as much', () => {
    const upWays = (pairs: number): readonly number[] =>
      Array.from({ length: 2 ** pairs }, (_, way) => way.toString(2).replaceAll('0', '').length);
    for (let pairs = 1; pairs <= 12; pairs += 1) {
      const ways = upWays(pairs);
      for (let better = 0; better <= pairs; better += 1) {
        const least = Math.abs(2 * better - pairs);
        const extreme = ways.filter((up) => Math.abs(2 * up - pairs) >= least).length;
        expect(signTest(better, pairs - better)).toBeCloseTo(extreme / 2 ** pairs, 12);
      }
    }
  });

  test('holds for thousands of pairs, as counted in whole numbers', () => {
    const exact = (better: number, worse: number): number => {
      const pairs = BigInt(better + worse);
      let [ways, sum] = [1n, 0n];
      for (let count = 0n; count <= BigInt(Math.min(better, worse)); count += 1n) {
        sum += ways;
        ways = (ways * (pairs - count)) / (count + 1n);
      }
      return Number((2n * sum * 10n ** 15n) / 2n ** pairs) / 1e15;
    };
    for (const [better, worse] of [
      [700, 600],
      [1040, 960],
      [1100, 900],
    ] as const)
      expect(signTest(better, worse) / exact(better, worse)).toBeCloseTo(1, 6);
    expect(signTest(1000, 1000)).toBe(1);
  });
});

function caseOf(id: string, outcomes: readonly EvalOutcome[], more: Partial<CaseResult> = {}) {
  const turn = (reason: string) => ({
    question: 'Q',
    outcome: 'pass' as const,
    answer: '',
    stop_reason: reason,
    findings: [],
    queries: [],
    tools: [],
    tokens: 100,
    cost_usd: 0.01,
    ms: 1000,
  });
  const attempts = outcomes.map((outcome) => {
    const turns = outcome === 'skipped' ? [] : [turn(outcome === 'error' ? 'error' : 'completed')];
    return { outcome, turns };
  });
  return { id, tags: [], outcome: worstOutcome(outcomes), flaky: false, attempts, ...more };
}

describe('figures by group', () => {
  const cases = [
    caseOf('a', ['pass'], { tags: ['simple', 'board'], agent: 'ktx' }),
    caseOf('b', ['fail'], { tags: ['simple'], agent: 'ktx' }),
    caseOf('c', ['error'], { tags: ['challenging'], agent: 'analyst' }),
    caseOf('d', ['pass', 'pass', 'fail'], { tags: ['board'], agent: 'analyst' }),
    caseOf('e', ['skipped'], { tags: ['challenging'], agent: 'analyst' }),
  ];
  const agentOf = (name: string, model: string) => ({ name, hash: 'h', backend: 'x', model });
  const context = {
    uncommitted: [],
    semantic_layer: '',
    wiki: '',
    questions: '',
    agents: [agentOf('ktx', 'small'), agentOf('analyst', 'large')],
  };

  test('are those of its cases alone: the easiest first, then tags, agents and models', () => {
    const [titles, ...rows] = groupRows(figureGroups({ cases, context }));
    expect(titles?.slice(0, 6)).toEqual(['by', '', 'cases', 'pass', 'not graded', 'accuracy']);
    expect(rows.map((row) => row.slice(0, 6).join(' | '))).toEqual([
      'difficulty | simple | 2 | 1 | 0 | 50 % (9 to 91)',
      'difficulty | challenging | 2 | 0 | 2 | ',
      'tag | board | 2 | 1 | 0 | 83 % (24 to 99)',
      'agent | ktx | 2 | 1 | 0 | 50 % (9 to 91)',
      'agent | analyst | 3 | 0 | 2 | 67 % (9 to 97)',
      'model | small | 2 | 1 | 0 | 50 % (9 to 91)',
      'model | large | 3 | 0 | 2 | 67 % (9 to 97)',
    ]);
  });

  test('of one agent and one model are those of the run', () => {
    const own = cases.map((result) => ({ ...result, tags: [], agent: 'ktx' }));
    expect(figureGroups({ cases: own, context })).toEqual([]);
  });

  test('a call that broke off neither costs nothing nor takes no time', () => {
    const { tokens, cost_usd: cost, decided } = summarizeCases(cases);
    expect([tokens?.value, cost?.value, decided]).toEqual([100, expect.closeTo(0.01, 9), 3]);
  });
});
