import type { Leg, ModelDataset, ModelRelationship, Step } from './model.ts';

/** The datasets with their hops; a relationship that leads to none of them is gone. What did not change is the same object again. */
export function withJoins(datasets: readonly ModelDataset[]): ReadonlyMap<string, ModelDataset> {
  const names = new Set(datasets.map(({ name }) => name));
  const own = new Map(
    datasets.map(({ name, relationships }) => [
      name,
      relationships.filter(({ to }) => names.has(to)),
    ]),
  );
  const steps = [...own.values()].flat().flatMap((relationship) => cachedSteps(relationship, own));
  const [toOne, toMany] = [
    steps.filter((step) => isToOne(step)),
    steps.filter((step) => !isToOne(step)),
  ].map((list) => Map.groupBy(list, ({ from }) => from));
  return new Map(
    datasets.map((dataset) => {
      const { name } = dataset;
      return [
        name,
        withHops(dataset, {
          relationships: own.get(name) ?? [],
          toOne: toOne?.get(name) ?? [],
          toMany: toMany?.get(name) ?? [],
        }),
      ];
    }),
  );
}

type Hops = Pick<ModelDataset, 'relationships' | 'toOne' | 'toMany'>;

const linkedCache = new WeakMap<ModelDataset, ModelDataset>();

function withHops(dataset: ModelDataset, hops: Hops): ModelDataset {
  const known = linkedCache.get(dataset);
  const isSame = (['relationships', 'toOne', 'toMany'] as const).every(
    (list) => known !== undefined && sameItems<unknown>(known[list], hops[list]),
  );
  if (known !== undefined && isSame) return known;
  const result = { ...dataset, ...hops };
  linkedCache.set(dataset, result);
  return result;
}

export function sameItems<T>(a: readonly T[], b: readonly T[]): boolean {
  return a.length === b.length && a.every((one, index) => one === b[index]);
}

const stepCache = new WeakMap<
  ModelRelationship,
  { readonly around: readonly ModelRelationship[]; readonly steps: readonly Step[] }
>();

/** Which depend on the relationships of its dataset and its bridge. */
function cachedSteps(
  relationship: ModelRelationship,
  own: RelationshipsByDataset,
): readonly Step[] {
  const around = [
    ...(own.get(relationship.from) ?? []),
    ...(own.get(relationship.via ?? '') ?? []),
  ];
  const known = stepCache.get(relationship);
  if (known !== undefined && sameItems(known.around, around)) return known.steps;
  const steps = stepsOf(relationship, own);
  stepCache.set(relationship, { around, steps });
  return steps;
}

export function isToOne({ direction }: Step): boolean {
  return direction === 'up' || direction === 'same';
}

type RelationshipsByDataset = ReadonlyMap<string, readonly ModelRelationship[]>;

function stepsOf(relationship: ModelRelationship, own: RelationshipsByDataset): readonly Step[] {
  const { from, to, name, cardinality } = relationship;
  if (cardinality === 'many_to_many') return bridgeSteps(relationship, own);
  const up: Leg = { from, to, relationship, reversed: false, many: false };
  if (cardinality === 'one_to_one' && from !== to) {
    const back: Leg = { from: to, to: from, relationship, reversed: true, many: false };
    return [
      { name, from, to, legs: [up], direction: 'same' },
      { name: from, from: to, to: from, legs: [back], direction: 'same' },
    ];
  }
  const down: Leg = { from: to, to: from, relationship, reversed: true, many: true };
  return [
    { name, from, to, legs: [up], direction: 'up' },
    { name: nameDown(relationship, own), from: to, to: from, legs: [down], direction: 'down' },
  ];
}

/** The name of the dataset that points here; with its role where that alone would not say which of its rows are meant. */
function nameDown({ from, to, name }: ModelRelationship, own: RelationshipsByDataset): string {
  const twins =
    own.get(from)?.filter((other) => other.to === to && other.cardinality !== 'many_to_many') ?? [];
  return twins.length > 1 || from === to ? `${from}_as_${name}` : from;
}

/** Both ways through a bridge, whose own relationships say how it is joined. */
function bridgeSteps(
  { from, to, name, via = '' }: ModelRelationship,
  own: RelationshipsByDataset,
): readonly Step[] {
  const ends = own.get(via) ?? [];
  const first = ends.find((end) => end.to === from);
  const second = ends.find((end) => end.to === to && end !== first);
  if (first === undefined || second === undefined) return [];
  const down = (relationship: ModelRelationship): Leg => ({
    from: relationship.to,
    to: via,
    relationship,
    reversed: true,
    many: true,
  });
  const up = (relationship: ModelRelationship): Leg => ({
    from: via,
    to: relationship.to,
    relationship,
    reversed: false,
    many: false,
  });
  return [
    { name, from, to, legs: [down(first), up(second)], direction: 'bridge' },
    {
      name: from === to ? `${from}_as_${name}` : from,
      from: to,
      to: from,
      legs: [down(second), up(first)],
      direction: 'bridge',
    },
  ];
}
