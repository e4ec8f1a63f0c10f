import type { TokenUsage } from '../../port/runtime.ts';

/** US dollars per million tokens of the families of Claude models, the dearest first. */
const families = [
  { name: /opus-4-1|opus-4-2025|opus-3|3-opus/, input: 15, output: 75 },
  { name: /sonnet/, input: 3, output: 15 },
  { name: /haiku/, input: 1, output: 5 },
  { name: /claude|opus/, input: 5, output: 25 },
] as const;

/**
 * About what these tokens cost. It only bridges the time until the backend reports the real cost,
 * and it is never recorded. Undefined if the model is of an unknown family.
 */
export function listPrice(model: string, usage: TokenUsage): number | undefined {
  const family = families.find(({ name }) => name.test(model));
  if (family === undefined) return undefined;
  const input = usage.input + usage.cacheRead / 10 + usage.cacheWrite * 1.25;
  return (input * family.input + usage.output * family.output) / 1_000_000;
}
