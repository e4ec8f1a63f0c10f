import { hopsOf, isToOne, placeOf, Refused } from './paths.ts';
import type { Place } from './question.ts';
import type { World } from './world.ts';

/** A place that a name can mean, and the dataset that it leads to. */
export interface Reached {
  readonly place: Place;
  readonly end: string;
}

/** What a question over some owners can name. */
export interface Reach {
  /** One row for each of every owner's. */
  readonly one: readonly Reached[];
  /** Several for one of an owner's. */
  readonly many: readonly Reached[];
  /** Whatever can be written, also where it leads nowhere. */
  readonly all: readonly Reached[];
}

const places = new WeakMap<World, readonly Reached[]>();
const reaches = new WeakMap<World, Map<string, Reach>>();

export function reachOf(world: World, owners: readonly string[]): Reach {
  const known = reaches.get(world) ?? new Map<string, Reach>();
  reaches.set(world, known);
  const key = [...new Set(owners)].toSorted().join();
  const cached = known.get(key);
  if (cached !== undefined) return cached;
  const all = places.get(world) ?? placesIn(world);
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
function placesIn(world: World): readonly Reached[] {
  const hops = hopsOf(world);
  const plain = world.datasets.map(({ name }): Reached => ({
    place: { start: name, roles: [] },
    end: name,
  }));
  const from = (starts: readonly Reached[]): readonly Reached[] =>
    starts.flatMap(({ place, end }) =>
      hops
        .filter((hop) => hop.from === end)
        .map(({ asked, to }) => ({ place: { ...place, roles: [...place.roles, asked] }, end: to })),
    );
  const once = from(plain);
  return [...plain, ...once, ...from(once)];
}

function kindOf(world: World, owner: string, place: Place): 'one' | 'many' | 'no' {
  try {
    return placeOf(world, owner, place).every(isToOne) ? 'one' : 'many';
  } catch (error) {
    if (error instanceof Refused) return 'no';
    throw error;
  }
}
