import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { UserError } from '../../src/lib/error.ts';
import { modelFor } from '../../src/semantic/access.ts';
import { dialectNamed } from '../../src/sql/dialects.ts';
import { evaluate } from './fuzz/brute-force.ts';
import { openRunner, type Runner, runnerNames } from './fuzz/runner.ts';
import { queryOf, type Question, questionArbitrary } from './fuzz/question.ts';
import { type Cell, filesOf, scriptOf, visible, type World, worldArbitrary } from './fuzz/world.ts';
import { compile, load } from './shop.ts';

/** Models to try; each is asked several questions. `npm run fuzz:semantic` tries more. */
const runs = Number(process.env['KTX_FUZZ_RUNS'] ?? 40);
const questionsEach = 4;

const caseArbitrary = worldArbitrary.chain((world) =>
  fc.record({
    world: fc.constant(world),
    questions: fc.array(questionArbitrary(world), { minLength: questionsEach, maxLength: questionsEach }),
  }),
);

/** Rows as sorted text; six digits are compared. */
function comparable(rows: readonly (readonly unknown[])[]): readonly string[] {
  const plain = (cell: unknown): unknown => {
    if (cell === null || (typeof cell === 'string' && !/^-?\d+(\.\d+)?(e-?\d+)?$/.test(cell))) return cell;
    return Math.round(Number(cell) * 1e6) / 1e6 + 0;
  };
  return rows.map((row) => JSON.stringify(row.map(plain))).toSorted();
}

describe.each(runnerNames)('compiled SQL on %s', (name) => {
  const dialect = dialectNamed(name);
  let runner: Runner;
  beforeAll(async () => {
    runner = await openRunner(name);
  });
  afterAll(async () => runner.close());

  const answerOf = async (world: World, question: Question): Promise<readonly string[] | undefined> => {
    const { model, diagnostics } = await load(filesOf(world), dialect);
    expect(diagnostics).toEqual([]);
    let sql: string;
    try {
      ({ sql } = compile(modelFor(model, 'reader'), queryOf(question)));
    } catch (error) {
      if (error instanceof UserError && ['no_path', 'ambiguous_path', 'not_supported', 'no_period', 'no_group'].includes(error.code))
        return undefined;
      throw error;
    }
    return comparable(await runner.rows(sql));
  };

  test('gives what the rules give over plain arrays, or the error that they ask for', { timeout: runs * 2_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(caseArbitrary, async ({ world, questions }) => {
        await runner.run(scriptOf(world, (value: Cell) => dialect.literal(value)));
        for (const question of questions) {
          const wanted = evaluate(visible(world), question);
          expect(await answerOf(world, question)).toEqual(wanted && comparable(wanted));
        }
      }),
      { numRuns: runs },
    );
  });

  test('changes nothing when a metric, TRUE or another order is asked for', { timeout: runs * 4_000 }, async () => {
    const rowsOf = async (world: World, query: ReturnType<typeof queryOf>): Promise<readonly (readonly unknown[])[]> => {
      const { model } = await load(filesOf(world), dialect);
      return runner.rows(compile(modelFor(model, 'reader'), query).sql);
    };
    await fc.assert(
      fc.asyncProperty(caseArbitrary, async ({ world, questions: [asked] }) => {
        const question = asked && { ...asked, having: undefined };
        if (question === undefined || evaluate(visible(world), question) === undefined) return;
        await runner.run(scriptOf(world, (value: Cell) => dialect.literal(value)));
        const query = queryOf(question);
        const { metrics = [], dimensions = [], where = [] } = query;
        const all = await rowsOf(world, query);
        expect(comparable(await rowsOf(world, { ...query, where: [...where, 'true'] }))).toEqual(comparable(all));
        const mirrored = { ...query, metrics: metrics.toReversed(), dimensions: dimensions.toReversed(), where: where.toReversed() };
        const width = dimensions.length;
        const unmirrored = (await rowsOf(world, mirrored)).map((row) => [
          ...row.slice(0, width).toReversed(),
          ...row.slice(width).toReversed(),
        ]);
        expect(comparable(unmirrored)).toEqual(comparable(all));
        for (const [index, metric] of metrics.entries()) {
          const beside = comparable(all.map((row) => [...row.slice(0, width), row[width + index]]));
          expect(beside).toEqual(expect.arrayContaining([...comparable(await rowsOf(world, { ...query, metrics: [metric] }))]));
        }
      }),
      { numRuns: runs },
    );
  });
});
