import { expect } from 'vitest';
import type { SemanticModel } from '../../../src/semantic/model/model.ts';
import { requireAnswer, type Engine, rowTexts } from './ask.ts';
import { type Query, queryOf } from './query-text.ts';
import type { Question } from './question.ts';

type Answer = Awaited<ReturnType<typeof requireAnswer>>;

/** Checks relations between the answers of related questions, which hold whatever the rules are. */
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
    requireAnswer(engine, model, { ...query, ...changed });
  const all = await run({});
  const same = async (changed: Partial<Query>): Promise<void> =>
    expect(rowTexts((await run(changed)).rows), JSON.stringify({ ...query, ...changed })).toEqual(
      rowTexts(all.rows),
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
  expect(rowTexts(turned).toSorted(), `mirrored ${JSON.stringify(query)}`).toEqual(
    rowTexts(all.rows).toSorted(),
  );
  for (const [index, metric] of metrics.entries())
    await checkAlone(engine, model, { question, all, metric, index });
  await checkSums({ engine, model, question, all });
}

/** A condition on an aggregate means the same in `having`, in `where`, and after an AND. */
async function checkHaving(engine: Engine, model: SemanticModel, asked: Question): Promise<void> {
  const query = queryOf(asked);
  const [first, ...others] = query.where ?? [];
  const [judged = ''] = query.having ?? [];
  const mixed =
    typeof first === 'string' && typeof judged === 'string'
      ? [`(${first}) and ${judged}`]
      : [judged, ...(first === undefined ? [] : [first])];
  const moved = await requireAnswer(engine, model, {
    ...query,
    having: [],
    where: [...mixed, ...others],
  });
  const plain = await requireAnswer(engine, model, query);
  expect(rowTexts(moved.rows), `in where: ${JSON.stringify(query)}`).toEqual(rowTexts(plain.rows));
}

interface Alone {
  readonly question: Question;
  readonly all: Answer;
  readonly metric: NonNullable<Query['metrics']>[number];
  readonly index: number;
}

/**
 * A metric has the same values alone as beside others. Alone it may have fewer groups and fewer
 * filled periods, and conditions and segments of other datasets do not apply.
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
  const alone = await requireAnswer(engine, model, { ...queryOf(scoped), metrics: [metric] });
  const kept = alone.rows.filter((row) => !question.fillTime || Number(row[width] ?? 0) !== 0);
  const beside = rowTexts(all.rows.map((row) => [...row.slice(0, width), row[width + index]]));
  expect(beside, `${JSON.stringify(metric)} alone of ${JSON.stringify(queryOf(question))}`).toEqual(
    expect.arrayContaining([...rowTexts(kept)]),
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
  // A difference with a NULL is NULL, so differences do not add up.
  const isOne = (index: number): boolean => !('left' in (question.metrics[index] ?? {}));
  const columns = all.additive.flatMap((isAdditive, index) =>
    isAdditive && isOne(index) ? [width + index] : [],
  );
  const isTotalled = question.metrics.some(
    (one) => JSON.stringify(one).match(/over_g|running|trailing|to_date/) !== null,
  );
  if (columns.length === 0) return;
  if (!isTotalled) {
    const total = await requireAnswer(
      engine,
      model,
      queryOf({ ...question, dimensions: [], fillTime: false, includeEmpty: false }),
    );
    const [row = []] = total.rows;
    expect(
      rowTexts([columns.map((column) => added(all.rows, column))]),
      `total of ${JSON.stringify(queryOf(question))}`,
    ).toEqual(rowTexts([columns.map((column) => row[column - width] ?? 0)]));
  }
  const months = dimensions.map((one) =>
    one.grain === 'month' ? { ...one, grain: 'day' as const } : one,
  );
  if (
    dimensions.filter(({ grain }) => grain !== undefined).length !== 1 ||
    !dimensions.some(({ grain }) => grain === 'month')
  )
    return;
  const finer = await requireAnswer(engine, model, queryOf({ ...question, dimensions: months }));
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
  // Days of a running total do not add up to months.
  const isPlain = !/running|trailing|to_date/.test(JSON.stringify(question.metrics));
  if (isPlain)
    expect(rowTexts(sums).toSorted(), `days of ${JSON.stringify(queryOf(question))}`).toEqual(
      rowTexts(wanted).toSorted(),
    );
}

function added(rows: readonly (readonly unknown[])[], column: number): number {
  return rows.reduce((sum, row) => sum + Number(row[column] ?? 0), 0);
}
