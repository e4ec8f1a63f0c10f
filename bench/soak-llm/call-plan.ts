import { createHash } from 'node:crypto';
import { z } from 'zod';
import {
  drop,
  fail,
  give,
  say,
  use,
  type Answer,
  type ModelCall,
} from '../../test/support/model-script.ts';
import { randomFrom } from '../../test/ingest/killed-project.ts';

/** What one call of the soak is, and what the model does in it: the same for the same seed. */
export interface CallPlan {
  readonly id: number;
  readonly backend: 'anthropic' | 'claude-code';
  readonly kind: 'text' | 'object' | 'loop';
  /** What comes in place of an answer, before the one that counts. */
  readonly faults: readonly Answer[];
  /** The call fails for good: no answer comes after the faults. */
  readonly isRefused: boolean;
  /** Whoever asked stops waiting after this time. */
  readonly stopMs: number | undefined;
}

export const personSchema = z.object({ name: z.string(), age: z.int() });

/** Faults that every backend repeats the request after, and counts once. */
const faults: readonly Answer[] = [
  drop,
  fail('server-error'),
  fail('overloaded'),
  fail('rate-limit'),
  say('Half an answer.', { fault: { after: 3, what: 'cut' } }),
  say('Half an answer.', { fault: { after: 3, what: 'end' } }),
  say('Half an answer.', { fault: { after: 3, what: 'overloaded' } }),
];
export const attempts = 5;
const kinds = ['text', 'object', 'loop'] as const;

export function planOf(seed: number, id: number): CallPlan {
  const random = randomFrom(createHash('sha256').update(`${seed} ${id}`).digest().readUInt32BE(0));
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  const backend = pick(['anthropic', 'claude-code'] as const);
  const kind = pick(kinds);
  const isFaulty = random() < 0.5;
  const count = isFaulty ? 1 + Math.floor(random() * (attempts - 2)) : 0;
  return {
    id,
    backend,
    kind,
    faults: Array.from({ length: count }, () => pick(faults)),
    isRefused: random() < 0.08,
    stopMs: random() < 0.08 ? Math.floor(random() * 1500) : undefined,
  };
}

/** The answer to the n-th request of a call, from 0. */
export function answerOf(
  { kind, faults: before, isRefused }: CallPlan,
  n: number,
  call: ModelCall,
) {
  const isFirstTurn = kind === 'loop' && call.results.length === 0;
  if (isFirstTurn && n === 0) return use('look_up', { word: 'fig' });
  const at = kind === 'loop' ? n - 1 : n;
  const fault = before[at];
  if (fault !== undefined) return fault;
  if (isRefused) return fail('bad-request');
  if (kind !== 'object') return say('It is a fruit.');
  return call.objectTaken ? say('Done.') : give({ name: 'Ada', age: 36 });
}
