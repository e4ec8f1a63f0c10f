import type { Place } from './question.ts';
import type { Dataset, Link, Row, World } from './world.ts';

/** A hop of a path: the table that it leads to, and how to get there from a row. */
interface Hop {
  readonly name: string;
  readonly kind: 'up' | 'down' | 'bridge';
  readonly from: string;
  readonly to: string;
  follow(row: Row): readonly Row[];
}
export type Path = readonly Hop[];

/** Rows by the names of the hops that led to them; undefined where a hop to one found none. */
export type Binding = ReadonlyMap<string, Row | undefined>;

/** What the rules call an error. */
export class Refused extends Error {}

/** Where a name leads from an owner: to a dataset, then along roles. */
export function placeOf(world: World, owner: string, { start, roles }: Place): Path {
  if (start === 'metric_time') return [];
  const base = pathTo(world, owner, start);
  if (base === undefined) throw new Refused(`no one path from ${owner} to ${start}`);
  const path = roles.reduce<Path>((done, role) => {
    const hop = hopsOf(world).find(({ kind, from, name }) => kind === 'up' && from === (done.at(-1)?.to ?? owner) && name === role);
    if (hop === undefined) throw new Error(`no role ${role}`);
    return [...done, hop];
  }, base);
  const down = path.findIndex(({ kind }) => kind === 'down');
  const kinds = path.slice(down + 1).map(({ kind }) => kind);
  if (down !== -1 && kinds.includes('up') && !kinds.slice(0, kinds.indexOf('up')).includes('bridge'))
    throw new Refused('down and up again');
  return path;
}

/** All rows that a path leads to from what is bound already. `inner` drops what a hop to many does not find. */
export function expanded(binding: Binding, path: Path, mode: 'inner' | 'left'): readonly Binding[] {
  let bindings = [binding];
  for (const [index, hop] of path.entries()) {
    const [base, name] = [nameOf(path.slice(0, index)), nameOf(path.slice(0, index + 1))];
    bindings = bindings.flatMap((one) => {
      if (one.has(name)) return [one];
      const start = one.get(base);
      const found: readonly (Row | undefined)[] = start === undefined ? [] : hop.follow(start);
      const kept = found.length === 0 && (hop.kind === 'up' || mode === 'left') ? [undefined] : found;
      return kept.map((row) => new Map([...one, [name, row]]));
    });
  }
  return bindings;
}

export function nameOf(path: Path): string {
  return path.map(({ name }) => name).join(' / ');
}

export function datasetNamed({ datasets }: World, name: string): Dataset {
  const found = datasets.find((dataset) => dataset.name === name);
  if (found === undefined) throw new Error(`no dataset ${name}`);
  return found;
}

/** The one path that a dataset's name means: to one; else straight down, or up or down to a bridge and up from it. */
function pathTo(world: World, from: string, to: string): Path | undefined {
  if (from === to) return [];
  const hops = hopsOf(world);
  const ups = hops.filter(({ kind }) => kind === 'up');
  const safe = walks(ups, { from, to });
  if (safe.length > 0) return safe.length === 1 ? safe[0] : undefined;
  const downs = hops.filter(({ kind }) => kind === 'down');
  const across = hops
    .filter(({ kind }) => kind === 'bridge')
    .flatMap((bridge) => {
      const starts = from === bridge.from ? [[]] : [...walks(ups, { from, to: bridge.from }), ...walks(downs, { from, to: bridge.from })];
      const ends = to === bridge.to ? [[]] : walks(ups, { from: bridge.to, to });
      return starts.flatMap((start) => ends.map((end) => [...start, bridge, ...end]));
    });
  const many = [...walks(downs, { from, to }), ...across];
  return many.length === 1 ? many[0] : undefined;
}

/** Every walk that visits no table twice. */
function walks(hops: readonly Hop[], ends: { from: string; to: string }, seen: readonly string[] = [ends.from]): readonly Path[] {
  const { from, to } = ends;
  return hops
    .filter((hop) => hop.from === from && !seen.includes(hop.to))
    .flatMap((hop) => {
      if (hop.to === to) return [[hop]];
      return walks(hops, { from: hop.to, to }, [...seen, hop.to]).map((rest) => [hop, ...rest]);
    });
}

/** Whether a row of the many side belongs to one of the other: by its key, or by the range that its value lies in. */
export function meets({ role, within }: Link, own: Row, target: Row): boolean {
  if (within === undefined) return own[`${role}_id`] === target['id'];
  const [value, low, high] = [own[within.field] ?? null, target[within.from] ?? null, target[within.to] ?? null];
  if (value === null || (within.byGroup && (own['g'] === null || own['g'] !== target['g']))) return false;
  return (low === null || value >= low) && (high === null || value < high || (within.includesEnd && value === high));
}

const known = new WeakMap<World, readonly Hop[]>();

function hopsOf(world: World): readonly Hop[] {
  const hops = known.get(world) ?? allHops(world);
  known.set(world, hops);
  return hops;
}

function allHops(world: World): readonly Hop[] {
  return world.datasets.flatMap(({ name, links }) =>
    links.flatMap((link): readonly Hop[] => {
      const { role, to, via } = link;
      if (via !== undefined) return [bridgeHop(world, via, [name, to]), bridgeHop(world, via, [to, name])];
      const [own, target] = [datasetNamed(world, name).rows, datasetNamed(world, to).rows];
      return [
        { name: role, kind: 'up', from: name, to, follow: (row) => target.filter((one) => meets(link, row, one)) },
        { name: `${name} as ${role}`, kind: 'down', from: to, to: name, follow: (row) => own.filter((one) => meets(link, one, row)) },
      ];
    }),
  );
}

/** A pair whose end is missing still counts, as a row of NULLs. */
function bridgeHop(world: World, via: string, [from, to]: readonly [string, string]): Hop {
  const [pairs, ends] = [datasetNamed(world, via).rows, datasetNamed(world, to).rows];
  const follow = (row: Row): readonly Row[] =>
    pairs.filter((pair) => pair[`${from}_id`] === row['id']).map((pair) => ends.find(({ id }) => id === pair[`${to}_id`]) ?? {});
  return { name: `${to} via ${via}`, kind: 'bridge', from, to, follow };
}
