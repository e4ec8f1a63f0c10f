import type { Leg, ModelDataset, ModelRelationship, Step } from './model.ts';

type RelationshipsByDataset = ReadonlyMap<string, readonly ModelRelationship[]>;

/**
 * The datasets with their relationships turned into steps, by name. Relationships to datasets that
 * are not among them are dropped. A dataset whose relationships and steps did not change since the
 * last call is the same object as then.
 */
export function withJoins(datasets: readonly ModelDataset[]): ReadonlyMap<string, ModelDataset> {
  const names = new Set(datasets.map(({ name }) => name));
  const relationships: RelationshipsByDataset = new Map(
    datasets.map((dataset) => [
      dataset.name,
      dataset.relationships.filter(({ to }) => names.has(to)),
    ]),
  );
  const steps = [...relationships.values()]
    .flat()
    .flatMap((relationship) => cachedSteps(relationship, relationships));
  const toOne = Map.groupBy(steps.filter(isToOne), ({ from }) => from);
  const toMany = Map.groupBy(
    steps.filter((step) => !isToOne(step)),
    ({ from }) => from,
  );
  return new Map(
    datasets.map((dataset) => {
      const { name } = dataset;
      const joins = {
        relationships: relationships.get(name) ?? [],
        toOne: toOne.get(name) ?? [],
        toMany: toMany.get(name) ?? [],
      };
      return [name, addJoins(dataset, joins)];
    }),
  );
}

/** True for a step that never multiplies rows. */
export function isToOne({ direction }: Step): boolean {
  return direction === 'up' || direction === 'same';
}

const linkedCache = new WeakMap<ModelDataset, ModelDataset>();

function addJoins(
  dataset: ModelDataset,
  joins: Pick<ModelDataset, 'relationships' | 'toOne' | 'toMany'>,
): ModelDataset {
  const cached = linkedCache.get(dataset);
  const isSame = (['relationships', 'toOne', 'toMany'] as const).every(
    (list) => cached !== undefined && sameItems<unknown>(cached[list], joins[list]),
  );
  if (cached !== undefined && isSame) return cached;
  const linked = { ...dataset, ...joins };
  linkedCache.set(dataset, linked);
  return linked;
}

/** True if both lists hold the same objects in the same order. */
export function sameItems<T>(a: readonly T[], b: readonly T[]): boolean {
  return a.length === b.length && a.every((item, index) => item === b[index]);
}

const stepCache = new WeakMap<
  ModelRelationship,
  { readonly inputs: readonly ModelRelationship[]; readonly steps: readonly Step[] }
>();

/**
 * The steps of a relationship. They depend on the other relationships of its dataset and on those
 * of its bridge.
 */
function cachedSteps(
  relationship: ModelRelationship,
  relationships: RelationshipsByDataset,
): readonly Step[] {
  const inputs = [
    ...(relationships.get(relationship.from) ?? []),
    ...(relationships.get(relationship.via ?? '') ?? []),
  ];
  const cached = stepCache.get(relationship);
  if (cached !== undefined && sameItems(cached.inputs, inputs)) return cached.steps;
  const steps = stepsOf(relationship, relationships);
  stepCache.set(relationship, { inputs, steps });
  return steps;
}

/** Both directions of a relationship. */
function stepsOf(
  relationship: ModelRelationship,
  relationships: RelationshipsByDataset,
): readonly Step[] {
  const { from, to, name, cardinality, isShared } = relationship;
  if (cardinality === 'many_to_many') return bridgeSteps(relationship, relationships);
  const forward: Leg = { from, to, relationship, reversed: false, isToMany: false };
  if (cardinality === 'one_to_one' && from !== to) {
    const back: Leg = { from: to, to: from, relationship, reversed: true, isToMany: false };
    return [
      { name, from, to, legs: [forward], direction: 'same' },
      { name: isShared ? name : from, from: to, to: from, legs: [back], direction: 'same' },
    ];
  }
  const back: Leg = { from: to, to: from, relationship, reversed: true, isToMany: true };
  const backName = nameOfStepDown(relationship, relationships);
  return [
    { name, from, to, legs: [forward], direction: 'up' },
    { name: backName, from: to, to: from, legs: [back], direction: 'down' },
  ];
}

/** The name of the dataset that points here; with its role if several relationships point here. */
function nameOfStepDown(
  { from, to, name }: ModelRelationship,
  relationships: RelationshipsByDataset,
): string {
  const parallel = (relationships.get(from) ?? []).filter(
    (candidate) => candidate.to === to && candidate.cardinality !== 'many_to_many',
  );
  return parallel.length > 1 || from === to ? `${from}_as_${name}` : from;
}

/**
 * Both directions through a bridge. Empty if the bridge lacks a relationship to one of the ends.
 */
function bridgeSteps(
  { from, to, name, via = '' }: ModelRelationship,
  relationships: RelationshipsByDataset,
): readonly Step[] {
  const ofBridge = relationships.get(via) ?? [];
  const toFrom = ofBridge.find((end) => end.to === from);
  const toTarget = ofBridge.find((end) => end.to === to && end !== toFrom);
  if (toFrom === undefined || toTarget === undefined) return [];
  const intoBridge = (relationship: ModelRelationship): Leg => ({
    from: relationship.to,
    to: via,
    relationship,
    reversed: true,
    isToMany: true,
  });
  const outOfBridge = (relationship: ModelRelationship): Leg => ({
    from: via,
    to: relationship.to,
    relationship,
    reversed: false,
    isToMany: false,
  });
  const backName = from === to ? `${from}_as_${name}` : from;
  return [
    { name, from, to, legs: [intoBridge(toFrom), outOfBridge(toTarget)], direction: 'bridge' },
    {
      name: backName,
      from: to,
      to: from,
      legs: [intoBridge(toTarget), outOfBridge(toFrom)],
      direction: 'bridge',
    },
  ];
}
