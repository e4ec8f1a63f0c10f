import { expect } from 'vitest';
import type { SemanticModel } from '../../../src/semantic/model/model.ts';
import { answered, type Engine, textOf } from './ask.ts';
import { type Query, queryOf } from './query-text.ts';
import type { Question } from './question.ts';

type Answer = Awaited<ReturnType<typeof answered>>;

/** What must hold of a question whatever the rules say, given that it has an answer. */
export async function checkRelations(
  engine: Engine,
  model: SemanticModel,
  asked: Question,
): Promise<void> {
  const question: Question = {
    ...asked,
    having: undefined,
    extra: undefined,
    stage: undefined,
    order: [],
    limit: undefined,
  };
  const query = queryOf(question);
  const run = async (changed: Partial<Query>): Promise<Answer> =>
    answered(engine, model, { ...query, ...changed });
  const all = await run({});
  const same = async (changed: Partial<Query>): Promise<void> =>
    expect(textOf((await run(changed)).rows), JSON.stringify({ ...query, ...changed })).toEqual(
      textOf(all.rows),
    );
  if (asked.having !== undefined) await checkHaving(engine, model, { ...asked, stage: undefined });
  const { metrics = [], dimensions = [], where = [] } = query;
  await same({ where: [...where, 'true'] });
  await same({ where: where.toReversed() });
  const [first, second] = where;
  if (typeof first === 'string' && typeof second === 'string')
    await same({ where: [`(${first}) and (${second})`] });
  const width = dimensions.length;
  const mirrored = await run({
    metrics: metrics.toReversed(),
    dimensions: dimensions.toReversed(),
  });
  const turned = mirrored.rows.map((row) => [
    ...row.slice(0, width).toReversed(),
    ...row.slice(width).toReversed(),
  ]);
  expect(textOf(turned).toSorted(), `mirrored ${JSON.stringify(query)}`).toEqual(
    textOf(all.rows).toSorted(),
  );
  for (const [index, metric] of metrics.entries())
    await checkAlone(engine, model, { question, all, metric, index });
  await checkSums({ engine, model, question, all });
}

/** A condition on an aggregate is one wherever it stands, also behind an AND. */
async function checkHaving(engine: Engine, model: SemanticModel, asked: Question): Promise<void> {
  const query = queryOf(asked);
  const [first, ...others] = query.where ?? [];
  const [judged = ''] = query.having ?? [];
  const mixed =
    typeof first === 'string' && typeof judged === 'string'
      ? [`(${first}) and ${judged}`]
      : [judged, ...(first === undefined ? [] : [first])];
  const moved = await answered(engine, model, {
    ...query,
    having: [],
    where: [...mixed, ...others],
  });
  const plain = await answered(engine, model, query);
  expect(textOf(moved.rows), `in where: ${JSON.stringify(query)}`).toEqual(textOf(plain.rows));
}

interface Alone {
  readonly question: Question;
  readonly all: Answer;
  readonly metric: NonNullable<Query['metrics']>[number];
  readonly index: number;
}

/**
 * Alone a metric may have fewer groups, nothing that a scope is about, and other periods that are
 * filled with nothing.
 */
async function checkAlone(
  engine: Engine,
  model: SemanticModel,
  { question, all, metric, index }: Alone,
): Promise<void> {
  const width = question.dimensions.length;
  const own = new Set(metricOwners(question, index));
  const scoped = {
    ...question,
    where: question.where.filter(({ on }) => on === undefined || own.has(on)),
    segments: question.segments.filter((name) => own.has(name)),
  };
  const alone = await answered(engine, model, { ...queryOf(scoped), metrics: [metric] });
  const kept = alone.rows.filter((row) => !question.fillTime || Number(row[width] ?? 0) !== 0);
  const beside = textOf(all.rows.map((row) => [...row.slice(0, width), row[width + index]]));
  expect(beside, `${JSON.stringify(metric)} alone of ${JSON.stringify(queryOf(question))}`).toEqual(
    expect.arrayContaining([...textOf(kept)]),
  );
}

function metricOwners({ metrics }: Question, index: number): readonly string[] {
  const metric = metrics[index];
  if (metric === undefined) return [];
  return 'left' in metric ? [metric.left.owner, metric.right.owner] : [metric.owner];
}

interface Sums {
  readonly engine: Engine;
  readonly model: SemanticModel;
  readonly question: Question;
  readonly all: Answer;
}

/** The groups of an additive metric add up to its total, and finer periods to coarser ones. */
async function checkSums({ engine, model, question, all }: Sums): Promise<void> {
  const { dimensions } = question;
  const width = dimensions.length;
  // A difference of which one side is NULL adds nothing.
  const isOne = (index: number): boolean => !('left' in (question.metrics[index] ?? {}));
  const columns = all.additive.flatMap((isAdditive, index) =>
    isAdditive && isOne(index) ? [width + index] : [],
  );
  const isTotalled = question.metrics.some(
    (one) => JSON.stringify(one).match(/over_g|running|trailing|to_date/) !== null,
  );
  if (columns.length === 0) return;
  if (!isTotalled) {
    const total = await answered(
      engine,
      model,
      queryOf({ ...question, dimensions: [], fillTime: false, includeEmpty: false }),
    );
    const [row = []] = total.rows;
    expect(
      textOf([columns.map((column) => added(all.rows, column))]),
      `total of ${JSON.stringify(queryOf(question))}`,
    ).toEqual(textOf([columns.map((column) => row[column - width] ?? 0)]));
  }
  const months = dimensions.map((one) =>
    one.grain === 'month' ? { ...one, grain: 'day' as const } : one,
  );
  if (
    dimensions.filter(({ grain }) => grain !== undefined).length !== 1 ||
    !dimensions.some(({ grain }) => grain === 'month')
  )
    return;
  const finer = await answered(engine, model, queryOf({ ...question, dimensions: months }));
  const index = dimensions.findIndex(({ grain }) => grain === 'month');
  const coarse = finer.rows.map((row) =>
    row.with(index, typeof row[index] === 'string' ? `${row[index].slice(0, 7)}-01` : row[index]),
  );
  const groups = Map.groupBy(coarse, (row) => JSON.stringify(row.slice(0, width)));
  const sums = [...groups.values()].map((rows) => [
    ...(rows[0]?.slice(0, width) ?? []),
    ...columns.map((column) => added(rows, column)),
  ]);
  const wanted = all.rows.map((row) => [
    ...row.slice(0, width),
    ...columns.map((column) => row[column] ?? 0),
  ]);
  // What runs is shown in periods of its own.
  const isPlain = !/running|trailing|to_date/.test(JSON.stringify(question.metrics));
  if (isPlain)
    expect(textOf(sums).toSorted(), `days of ${JSON.stringify(queryOf(question))}`).toEqual(
      textOf(wanted).toSorted(),
    );
}

function added(rows: readonly (readonly unknown[])[], column: number): number {
  return rows.reduce((sum, row) => sum + Number(row[column] ?? 0), 0);
}
