import { hopsOf, isToOne, resolvePath, Refusal } from './paths.ts';
import type { FieldPath } from './question.ts';
import type { World } from './world.ts';

/** A path that a question can name, and the dataset at its end. */
export interface ReachablePath {
  readonly place: FieldPath;
  readonly end: string;
}

/** The paths that a question about some owners can name. */
export interface Reach {
  /** Those that lead to at most one row, from every owner. */
  readonly one: readonly ReachablePath[];
  /** Those that lead to several rows from at least one owner. */
  readonly many: readonly ReachablePath[];
  /** All that can be written, also those without an answer. */
  readonly all: readonly ReachablePath[];
}

const places = new WeakMap<World, readonly ReachablePath[]>();
const reaches = new WeakMap<World, Map<string, Reach>>();

export function findReachable(world: World, owners: readonly string[]): Reach {
  const known = reaches.get(world) ?? new Map<string, Reach>();
  reaches.set(world, known);
  const key = [...new Set(owners)].toSorted().join();
  const cached = known.get(key);
  if (cached !== undefined) return cached;
  const all = places.get(world) ?? pathsIn(world);
  places.set(world, all);
  const kinds = all.map(({ place }) => new Set(owners.map((owner) => kindOf(world, owner, place))));
  const found = {
    one: all.filter((_, index) => kinds[index]?.has('no') === false && !kinds[index].has('many')),
    many: all.filter((_, index) => kinds[index]?.has('no') === false && kinds[index].has('many')),
    all,
  };
  known.set(key, found);
  return found;
}

/** A dataset by its name, by a role, by a role of a role. */
function pathsIn(world: World): readonly ReachablePath[] {
  const hops = hopsOf(world);
  const plain = world.datasets.map(({ name }): ReachablePath => ({
    place: { start: name, roles: [] },
    end: name,
  }));
  const from = (starts: readonly ReachablePath[]): readonly ReachablePath[] =>
    starts.flatMap(({ place, end }) =>
      hops
        .filter((hop) => hop.from === end)
        .map(({ asked, to }) => ({ place: { ...place, roles: [...place.roles, asked] }, end: to })),
    );
  const once = from(plain);
  return [...plain, ...once, ...from(once)];
}

function kindOf(world: World, owner: string, place: FieldPath): 'one' | 'many' | 'no' {
  try {
    return resolvePath(world, owner, place).every(isToOne) ? 'one' : 'many';
  } catch (error) {
    if (error instanceof Refusal) return 'no';
    throw error;
  }
}
