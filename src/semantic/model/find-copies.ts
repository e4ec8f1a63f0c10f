import { stepOfTable, thingOf } from '../../sql/names/table-layer.ts';
import { isToOne } from './join-graph.ts';
import type { ModelDataset, SemanticModel, Step } from './model.ts';

/**
 * The other steps from where `step` begins that lead to a copy of its end in another layer, by
 * other columns: beside `customer_id` to `raw_customers`, `ship_to` to `dim_customers`. Both are
 * customers, so a name of either table does not tell which customer of the row is meant.
 */
export function findStepsToCopies(model: SemanticModel, step: Step): readonly Step[] {
  const from = model.datasets.get(step.from);
  const end = model.datasets.get(step.to);
  const columns = columnsOf(step);
  if (from === undefined || end === undefined || !isToOne(step) || columns === '') return [];
  // A copy of the row itself stands for no other row.
  if (placeOf(from).thing === placeOf(end).thing) return [];
  return from.toOne.filter((rival) => {
    const own = columnsOf(rival);
    const target = model.datasets.get(rival.to);
    return own !== '' && own !== columns && target !== undefined && areCopies(end, target);
  });
}

/** The own columns of a plain join; empty for any other step. */
function columnsOf({ legs: [leg, ...others] }: Step): string {
  if (leg === undefined || others.length > 0 || leg.reversed) return '';
  const columns = leg.relationship.equal.flatMap(({ own }) => own ?? []);
  return columns.length === leg.relationship.equal.length ? columns.sort().join() : '';
}

/** True for two tables of different layers that hold the same things. */
function areCopies(one: ModelDataset, another: ModelDataset): boolean {
  const [first, second] = [placeOf(one), placeOf(another)];
  return first.thing === second.thing && first.layer !== second.layer;
}

function placeOf({ name, relation, layer }: ModelDataset) {
  const parts = relation.kind === 'table' ? relation.parts.toReversed() : [name];
  return { thing: thingOf(parts[0] ?? name), layer: layer ?? stepOfTable(parts) };
}
