import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ask, type Engine, openEngine, textOf } from './fuzz/ask.ts';
import { evaluate } from './fuzz/brute-force.ts';
import { checkRelations } from './fuzz/metamorphic.ts';
import { queryOf } from './fuzz/query-text.ts';
import { type Question, questionArbitrary } from './fuzz/question.ts';
import { runnerNames } from './fuzz/runner.ts';
import { visible, worldArbitrary } from './fuzz/world.ts';

/** Models to try on each engine; each is asked several questions. `npm run fuzz:semantic` tries more. */
const runs = Number(process.env['KTX_FUZZ_RUNS'] ?? 30);
const { KTX_FUZZ_SEED: seed, KTX_FUZZ_PATH: path } = process.env;
const questionsEach = 4;

const caseArbitrary = worldArbitrary.chain((world) =>
  fc.record({
    world: fc.constant(world),
    questions: fc.array(questionArbitrary(world), { minLength: questionsEach, maxLength: questionsEach }),
  }),
);

describe.each(runnerNames)('compiled SQL on %s', (name) => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await openEngine(name);
  });
  afterAll(async () => engine.runner.close());

  /** SQLite knows no zones. */
  const askable = (question: Question): Question => (name === 'sqlite' ? { ...question, zone: undefined } : question);

  test('gives what the rules give over plain arrays, or the error that they ask for', { timeout: runs * 2_000 }, async () => {
    const counts = { pairs: 0, answered: 0 };
    await fc.assert(
      fc.asyncProperty(caseArbitrary, async ({ world, questions }) => {
        const model = await engine.open(world);
        for (const question of questions.map(askable)) {
          const wanted = evaluate(visible(world), question);
          const given = await ask(engine, model, queryOf(question));
          expect(given && textOf(given.rows), JSON.stringify(queryOf(question))).toEqual(wanted && textOf(wanted));
          counts.pairs += 1;
          if (given === undefined) continue;
          counts.answered += 1;
          if (counts.answered % 4 === 0) await checkRelations(engine, model, question);
        }
      }),
      { numRuns: runs, ...(seed === undefined ? {} : { seed: Number(seed) }), ...(path === undefined ? {} : { path }) },
    );
    if (runs > 1000) process.stderr.write(`${name}: ${counts.pairs} pairs of model and query, ${counts.answered} of them with rows\n`);
    expect(counts.answered).toBeGreaterThan(0);
  });
});
