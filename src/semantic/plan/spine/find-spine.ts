import type { TimeGrain } from '../../../sql/dialect.ts';
import { type Grain, grains, liesIn } from '../../model/grains.ts';
import type { ModelDataset, SemanticModel } from '../../model/model.ts';
import { ambiguousError, queryError } from '../../query/errors.ts';

/** A dataset that is a time spine. */
export interface Spine {
  readonly dataset: ModelDataset;
  readonly column: string;
  readonly grain: TimeGrain;
}

/**
 * The coarsest time spine whose periods lie in those of all the grains. Throws if the model has
 * none, or two of the same grain.
 */
export function findSpine(model: SemanticModel, wanted: readonly Grain[]): Spine {
  const spines = [...model.datasets.values()].flatMap((dataset): readonly Spine[] =>
    dataset.timeSpine === undefined ? [] : [{ dataset, ...dataset.timeSpine }],
  );
  // A fiscal period never begins within a month.
  const fitting = spines.filter(({ grain }) =>
    wanted.every((coarser) => liesIn(grain, coarser, 1)),
  );
  const coarsest = grains.findLast((grain) => fitting.some((spine) => spine.grain === grain));
  const [spine, ...others] = fitting.filter(({ grain }) => grain === coarsest);
  if (spine === undefined)
    throw queryError(
      'no_time_spine',
      `The semantic layer has no time spine whose periods make up each ${wanted.join(' and ')}`,
      'Write time_spine: {column: day, grain: day} into the dataset of a table that has one row for each period.',
    );
  if (others.length === 0) return spine;
  const names = [spine, ...others].map(({ dataset }) => dataset.name);
  throw ambiguousError(
    'ambiguous_name',
    `Several time spines have one row for each ${spine.grain}. Keep time_spine in one of them`,
    names,
  );
}
