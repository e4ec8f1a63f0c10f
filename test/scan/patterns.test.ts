import { expect, test } from 'vitest';
import { bestF1 } from '../../bench/relationships/patterns/baselines.ts';
import { scorePatterns } from '../../bench/relationships/patterns/score-patterns.ts';
import { calibrationError, f1, total } from '../../bench/relationships/score.ts';

test('joins of the families that nothing was tuned on, which simple matchers do not find', async () => {
  const scores = await scorePatterns('final');
  const macro = (which: 'hidden' | 'known'): number =>
    scores.reduce((sum, score) => sum + f1(score[which]), 0) / scores.length;
  const links = total(scores.map(({ hidden }) => hidden)).links;
  for (const which of ['hidden', 'known'] as const) {
    const sum = total(scores.map((score) => score[which]));
    expect(f1(sum), `micro, keys ${which}`).toBeGreaterThanOrEqual(0.95);
    expect(macro(which), `macro, keys ${which}`).toBeGreaterThanOrEqual(0.955);
    const judged = scores.flatMap((score) => score[which].judged);
    expect(calibrationError(judged)).toBeLessThanOrEqual(0.05);
    expect(sum.queries).toBeLessThanOrEqual(sum.bound);
  }
  for (const matcher of ['names', 'containment'] as const) {
    const pairs = scores.flatMap(({ baseline }) => baseline[matcher]);
    expect(bestF1(pairs, links), matcher).toBeLessThanOrEqual(0.8);
  }
});

test.each(['read', 'blind'] as const)('joins of public software and exports: %s', async (use) => {
  const scores = await scorePatterns(use);
  for (const which of ['hidden', 'known'] as const) {
    const sum = total(scores.map((score) => score[which]));
    expect(f1(sum), `micro, keys ${which}`).toBeGreaterThanOrEqual(0.95);
    expect(sum.hits / sum.accepted, `precision, keys ${which}`).toBeGreaterThanOrEqual(0.96);
    const judged = scores.flatMap((score) => score[which].judged);
    expect(calibrationError(judged)).toBeLessThanOrEqual(0.05);
  }
});
