import type { FieldPath } from './question.ts';
import { type Dataset, meets, type Row, type World } from './world.ts';

/** One step of a path, along a relationship: its ends, and how to find the partners of a row. */
export interface Hop {
  readonly name: string;
  /** The name that queries use for it. */
  readonly asked: string;
  readonly kind: 'up' | 'same' | 'down' | 'bridge';
  readonly from: string;
  readonly to: string;
  follow(row: Row): readonly Row[];
}
export type Path = readonly Hop[];

/** Rows by the path that led to them; undefined if a hop to one row found none. */
export type Binding = ReadonlyMap<string, Row | undefined>;

/** An error that the rules demand, by its code. */
export class Refusal extends Error {
  readonly code: string;
  constructor(code: string, why: string) {
    super(why);
    this.code = code;
  }
}

export function isToOne({ kind }: Hop): boolean {
  return kind === 'up' || kind === 'same';
}

/**
 * The hops from an owner to what a name means: to a dataset, then along roles. With `reach: 'one'`
 * only hops that never multiply rows.
 */
export function resolvePath(
  world: World,
  owner: string,
  { start, roles, each, reach = 'many' }: FieldPath & { readonly reach?: 'one' | 'many' },
): Path {
  if (each !== undefined) {
    const own = each.get(owner);
    if (own === undefined) throw new Refusal('no_path', `nothing of ${owner}`);
    return resolvePath(world, owner, { ...own, reach });
  }
  if (start === 'metric_time') return [];
  let path = pathTo(world, owner, { to: start, reach });
  for (const role of roles) {
    const named = hopsOf(world).filter(
      ({ from, asked }) => from === (path.at(-1)?.to ?? owner) && asked === role,
    );
    const safe = named.filter(isToOne);
    const found = safe.length > 0 || reach === 'one' ? safe : named;
    const [hop] = found;
    if (hop === undefined) throw new Refusal('unknown_name', `no role ${role}`);
    if (found.length > 1) throw new Refusal('ambiguous_path', `several hops are called ${role}`);
    path = [...path, hop];
  }
  checkShape(path);
  return path;
}

/**
 * Refuses paths whose ends have nothing to do with each other: up and down again (to a sibling),
 * down and up again (to another parent).
 */
function checkShape(path: Path): void {
  for (const [index, { kind }] of path.entries()) {
    const before = path.slice(0, index).map((hop) => hop.kind);
    const has = (one: Hop['kind']): boolean => before.includes(one);
    const isAside =
      (kind === 'down' && (has('up') || has('bridge'))) ||
      (kind === 'bridge' && (has('bridge') || (has('up') && has('down')))) ||
      (kind === 'up' && has('down') && !has('bridge'));
    if (isAside) throw new Refusal('no_path', 'aside');
  }
}

/**
 * Adds to a binding each row that the path leads to. `inner` drops bindings for which a hop to many
 * rows finds none.
 */
export function followPath(
  binding: Binding,
  path: Path,
  mode: 'inner' | 'left',
): readonly Binding[] {
  let bindings = [binding];
  for (const [index, hop] of path.entries()) {
    const [base, name] = [nameOf(path.slice(0, index)), nameOf(path.slice(0, index + 1))];
    bindings = bindings.flatMap((one) => {
      if (one.has(name)) return [one];
      const start = one.get(base);
      const found: readonly (Row | undefined)[] = start === undefined ? [] : hop.follow(start);
      const kept = found.length === 0 && (isToOne(hop) || mode === 'left') ? [undefined] : found;
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

/**
 * The one path to a dataset: by hops to one row; if there is none, straight down, or up or down to
 * a bridge and up from it.
 */
function pathTo(
  world: World,
  from: string,
  { to, reach }: { to: string; reach: 'one' | 'many' },
): Path {
  if (from === to) return [];
  const hops = hopsOf(world);
  const ups = hops.filter(isToOne);
  const safe = walks(ups, { from, to });
  const found = safe.length > 0 || reach === 'one' ? safe : manyWalks(hops, { from, to });
  const [only] = found;
  if (only === undefined) throw new Refusal('no_path', `no path from ${from} to ${to}`);
  if (found.length > 1) throw new Refusal('ambiguous_path', `several paths from ${from} to ${to}`);
  return only;
}

function manyWalks(hops: readonly Hop[], { from, to }: Ends): readonly Path[] {
  const ups = hops.filter(isToOne);
  const downs = hops.filter(({ kind }) => kind === 'down' || kind === 'same');
  const across = hops
    .filter(({ kind }) => kind === 'bridge')
    .flatMap((bridge) => {
      const start = { from, to: bridge.from };
      const ways = [...walks(ups, start), ...walks(downs, start)];
      // A path of one-to-one hops alone is in both lists.
      const starts =
        from === bridge.from ? [[]] : [...new Map(ways.map((way) => [nameOf(way), way])).values()];
      const ends = to === bridge.to ? [[]] : walks(ups, { from: bridge.to, to });
      return starts.flatMap((way) => ends.map((end) => [...way, bridge, ...end]));
    });
  return [...walks(downs, { from, to }), ...across];
}

interface Ends {
  readonly from: string;
  readonly to: string;
}

/** All paths that visit no dataset twice. */
function walks(
  hops: readonly Hop[],
  ends: Ends,
  seen: readonly string[] = [ends.from],
): readonly Path[] {
  const { from, to } = ends;
  return hops
    .filter((hop) => hop.from === from && !seen.includes(hop.to))
    .flatMap((hop) => {
      if (hop.to === to) return [[hop]];
      return walks(hops, { from: hop.to, to }, [...seen, hop.to]).map((rest) => [hop, ...rest]);
    });
}

const known = new WeakMap<World, readonly Hop[]>();

export function hopsOf(world: World): readonly Hop[] {
  const hops = known.get(world) ?? allHops(world);
  known.set(world, hops);
  return hops;
}

function allHops(world: World): readonly Hop[] {
  return world.datasets.flatMap(({ name, links }) =>
    links.flatMap((link): readonly Hop[] => {
      const { role, to, via, isOneToOne = false } = link;
      if (via !== undefined) {
        return [
          { ...bridgeHop(world, via, [name, to]), asked: role },
          { ...bridgeHop(world, via, [to, name]), asked: name },
        ];
      }
      const [own, target] = [datasetNamed(world, name).rows, datasetNamed(world, to).rows];
      const twins = links.filter((other) => other.to === to && other.via === undefined);
      const asked = !isOneToOne && (twins.length > 1 || name === to) ? `${name}_as_${role}` : name;
      const there = (row: Row): readonly Row[] => target.filter((one) => meets(link, row, one));
      const back = (row: Row): readonly Row[] => own.filter((one) => meets(link, one, row));
      return [
        {
          name: role,
          asked: role,
          kind: isOneToOne ? 'same' : 'up',
          from: name,
          to,
          follow: there,
        },
        {
          name: `${name} as ${role}`,
          asked,
          kind: isOneToOne ? 'same' : 'down',
          from: to,
          to: name,
          follow: back,
        },
      ];
    }),
  );
}

/** A pair whose end is missing leads to a row of NULLs. */
function bridgeHop(
  world: World,
  via: string,
  [from, to]: readonly [string, string],
): Omit<Hop, 'asked'> {
  const [pairs, ends] = [datasetNamed(world, via).rows, datasetNamed(world, to).rows];
  const follow = (row: Row): readonly Row[] =>
    pairs
      .filter((pair) => pair[`${from}_id`] === row['id'])
      .map((pair) => ends.find(({ id }) => id === pair[`${to}_id`]) ?? {});
  return { name: `${to} via ${via}`, kind: 'bridge', from, to, follow };
}
