import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasClickhouse } from '../support/clickhouse.ts';
import { hasMariadb } from '../support/mariadb.ts';
import { ask, type Engine, openEngine, refusedByEngine, rowTexts } from './fuzz/ask.ts';
import { evaluate } from './fuzz/brute-force.ts';
import { withoutUnsupported, questionArbitrary } from './fuzz/draw-question.ts';
import { worldArbitrary } from './fuzz/draw-world.ts';
import { openCoverage } from './fuzz/features.ts';
import { checkRelations } from './fuzz/metamorphic.ts';
import { queryOf } from './fuzz/query-text.ts';
import { runnerNames } from './fuzz/runner.ts';
import { visible } from './fuzz/world.ts';

/**
 * Compiled SQL against the rules, read over plain arrays: rows in order, or the code of the error.
 * `draw-world.ts` draws models and rows, `draw-question.ts` the queries, which mostly ask what can
 * be answered; `features.ts` lists what they have to use. The stream is the same for every run of
 * the tests; a long one (`npm run fuzz:semantic`) has a seed of its own.
 */
const { KTX_FUZZ_RUNS: models = '24', KTX_FUZZ_SEED: seed, KTX_FUZZ_PATH: path } = process.env;
const runs = Number(models);
const isLong = runs > 200;
const questionsEach = 8;

const caseArbitrary = worldArbitrary.chain((world) =>
  fc.record({
    world: fc.constant(world),
    questions: fc.array(questionArbitrary(world), {
      minLength: questionsEach,
      maxLength: questionsEach,
    }),
  }),
);

const engines = [...runnerNames, 'mysql', 'clickhouse'] as const;

describe.each(engines)('compiled SQL on %s', (name) => {
  const isThere = (name !== 'mysql' || hasMariadb) && (name !== 'clickhouse' || hasClickhouse);
  const has = {
    zones: name !== 'mysql',
    correlation: name !== 'clickhouse',
    recursion: name !== 'mysql' && name !== 'clickhouse',
  };
  const coverage = openCoverage(has);
  const counts = { pairs: 0, answered: 0, telling: 0, related: 0, unable: 0, doubly: 0 };
  let engine: Engine;
  beforeAll(async () => {
    if (isThere) engine = await openEngine(name);
  });
  afterAll(async () => {
    if (isThere) await engine.runner.close();
  });

  test.skipIf(!isThere)(
    'gives what the rules give over plain arrays, or the error that they ask for',
    { timeout: runs * 10_000 },
    async () => {
      const refusals = new Map<string, number>();
      const property = fc.asyncProperty(caseArbitrary, async ({ world, questions }) => {
        const model = await engine.open(world);
        const seen = visible(world);
        for (const question of questions.map((one) => withoutUnsupported(one, has))) {
          const query = queryOf(question);
          const wanted = evaluate(seen, question);
          const given = await ask(engine, model, query);
          if ('refused' in given && given.refused === refusedByEngine) {
            counts.pairs += 1;
            counts.unable += 1;
            continue;
          }
          const plain = [given, wanted].map((one) =>
            'refused' in one ? one.refused : rowTexts(one.rows),
          );
          // Which of two faults is named first is not a rule.
          if (plain.every((answer) => typeof answer === 'string'))
            counts.doubly += plain[0] === plain[1] ? 0 : 1;
          else expect(plain[0], JSON.stringify(query)).toEqual(plain[1]);
          counts.pairs += 1;
          if ('refused' in given || 'refused' in wanted) {
            const code = 'refused' in given ? given.refused : '';
            refusals.set(code, (refusals.get(code) ?? 0) + 1);
            continue;
          }
          counts.answered += 1;
          counts.telling += isTelling(given.rows, question.dimensions.length) ? 1 : 0;
          coverage.add(seen, question, wanted.owners);
          if (counts.answered % 6 > 0) continue;
          counts.related += 1;
          await checkRelations(engine, model, question);
        }
      });
      const known = isLong ? {} : { seed: engines.indexOf(name) + 1 };
      // Making a case smaller takes minutes: only a run with KTX_FUZZ_PATH does.
      const again = path === undefined ? { endOnFailure: true } : { path };
      await fc.assert(property, {
        numRuns: runs,
        ...known,
        ...again,
        ...(seed === undefined ? {} : { seed: Number(seed) }),
      });
      if (isLong) report(name, { counts, refusals, coverage: coverage.counts });
      expect(counts.answered / counts.pairs).toBeGreaterThan(path === undefined ? 0.6 : 0);
      expect(counts.unable / counts.pairs).toBeLessThan(0.05);
      expect(counts.doubly / counts.pairs).toBeLessThan(0.001);
      if (isLong) expect([...coverage.counts].filter(([, count]) => count === 0)).toEqual([]);
    },
  );
});

/** More than one group, and a value in it. */
function isTelling(rows: readonly (readonly unknown[])[], dimensions: number): boolean {
  return (
    rows.length > 1 &&
    rows.some(
      (row) => row.length === dimensions || row.slice(dimensions).some((cell) => cell !== null),
    )
  );
}

interface RunCounts {
  readonly counts: Readonly<
    Record<'pairs' | 'answered' | 'telling' | 'related' | 'unable' | 'doubly', number>
  >;
  readonly refusals: ReadonlyMap<string, number>;
  readonly coverage: ReadonlyMap<string, number>;
}

function report(name: string, { counts, refusals, coverage }: RunCounts): void {
  const share = (part: number, whole: number): string =>
    `${part} (${Math.round((100 * part) / whole)} %)`;
  const list = (all: ReadonlyMap<string, number>): string =>
    [...all].map(([one, count]) => `${one} ${count}`).join(' · ');
  const { pairs, answered, telling, related, unable, doubly } = counts;
  process.stderr.write(
    `${name}: ${pairs} pairs of model and query, ${share(answered, pairs)} answered, of these ${share(telling, answered)} with several groups and a value, ${related} related to other queries, ${unable} beyond the engine, ${doubly} refused for another of two faults\n  refused: ${list(refusals)}\n  answered with: ${list(coverage)}\n`,
  );
}
