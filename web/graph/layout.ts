import { graphlib, layout } from '@dagrejs/dagre';
import type { JoinGraph } from '../answers.ts';
import { routeJoins } from './route.ts';

type GraphJoin = JoinGraph['joins'][number];

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A dataset on the drawing; `x` and `y` are its middle. */
export interface PlacedDataset extends Point {
  readonly name: string;
  readonly width: number;
  readonly height: number;
}

export interface PlacedJoin {
  readonly join: GraphJoin;
  readonly points: readonly Point[];
}

export interface Drawing {
  readonly datasets: readonly PlacedDataset[];
  readonly joins: readonly PlacedJoin[];
  readonly width: number;
  readonly height: number;
}

/** Rows of many datasets are low, so that a person sees all of them at once. */
const looks = {
  airy: { rowHeight: 25, between: 10, layers: 70, letter: 7.1 },
  dense: { rowHeight: 18, between: 3, layers: 70, letter: 6.7 },
};
type DrawingLook = (typeof looks)['airy'];
export const mostAiry = 30;
const gap = 26;
/** How much further apart layers may stand than they have to, to use the page. */
const mostStretch = 1.7;

/**
 * Places datasets in layers: the many sides on the left, what they refer to on the right. Groups
 * that no join connects stand below each other, the largest first.
 */
export function layOut(
  names: readonly string[],
  joins: readonly GraphJoin[],
  room: number,
): Drawing {
  const look = looks[names.length > mostAiry ? 'dense' : 'airy'];
  const groups = connectedGroups(names, joins).map((group) => {
    const inside = new Set(group);
    const own = joins.filter(({ from }) => inside.has(from));
    return stretch(layOutGroup(group, own, look), room);
  });
  return pack(groups, room);
}

function layOutGroup(
  names: readonly string[],
  joins: readonly GraphJoin[],
  look: DrawingLook,
): Drawing {
  const graph = new graphlib.Graph({ multigraph: true });
  graph.setGraph({
    rankdir: 'LR',
    nodesep: look.between,
    edgesep: 3,
    ranksep: look.layers,
    marginx: 2,
    marginy: 2,
    ranker: 'network-simplex',
  });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const name of names) graph.setNode(name, sizeOf(name, look));
  const isLoop = ({ from, to }: GraphJoin) => from === to;
  for (const [index, join] of joins.entries())
    if (!isLoop(join)) graph.setEdge(join.from, join.to, {}, String(index));
  layout(graph);
  const datasets = names.map((name) => ({
    ...atOrigin,
    ...sizeOf(name, look),
    ...graph.node(name),
    name,
  }));
  const placed = joins.map((join, index): PlacedJoin => {
    if (isLoop(join)) return { join, points: [] };
    const edge: unknown = graph.edge(join.from, join.to, String(index));
    return { join, points: pointsOf(edge) };
  });
  return { datasets, joins: placed, ...sizeOfAll(datasets, placed) };
}

/** The whole drawing begins at 0, and holds every line. */
function sizeOfAll(datasets: readonly PlacedDataset[], joins: readonly PlacedJoin[]) {
  const points = joins.flatMap((own) => own.points);
  const right = datasets.map(({ x, width }) => x + width / 2);
  const bottom = datasets.map(({ y, height }) => y + height / 2);
  return {
    width: Math.max(...right, ...points.map(({ x }) => x)),
    height: Math.max(...bottom, ...points.map(({ y }) => y)),
  };
}

/** Moves the layers apart where the page has room, and ties the lines to the sides. */
function stretch({ datasets, joins }: Drawing, room: number): Drawing {
  const widest = Math.max(...datasets.map(({ width }) => width));
  const left = Math.min(...datasets.map(({ x }) => x));
  const span = Math.max(...datasets.map(({ x }) => x)) - left;
  const factor = span <= 0 ? 1 : Math.min(mostStretch, Math.max(1, (room - widest) / span));
  const top = Math.min(
    ...datasets.map(({ y, height }) => y - height / 2),
    ...joins.flatMap(({ points }) => points.map(({ y }) => y)),
  );
  const move = <T extends Point>(point: T): T => ({
    ...point,
    x: (point.x - left) * factor + widest / 2,
    y: point.y - top,
  });
  const moved = datasets.map(move);
  const loops = new Map(moved.map((dataset) => [dataset.name, loopAround(dataset)]));
  const placed = joins.map(({ join, points }): PlacedJoin => {
    const isLoop = join.from === join.to;
    return { join, points: isLoop ? (loops.get(join.from) ?? []) : points.map(move) };
  });
  const tied = routeJoins(moved, placed);
  return { datasets: moved, joins: tied, ...sizeOfAll(moved, tied) };
}

const atOrigin = { x: 0, y: 0 };

function sizeOf(name: string, { letter, rowHeight }: DrawingLook) {
  return { width: Math.round(name.length * letter + 18), height: rowHeight };
}

function pointsOf(edge: unknown): readonly Point[] {
  return edge instanceof Object && 'points' in edge ? (edge.points as readonly Point[]) : [];
}

/** A join of a dataset with itself leaves it on top and comes back on the right. */
function loopAround({ x, y, width, height }: PlacedDataset): readonly Point[] {
  const right = x + width / 2;
  return [
    { x: right, y: y - height / 5 },
    { x: right + 16, y },
    { x: right + 2, y: y + height / 5 },
  ];
}

/** Names that joins connect, whatever their direction; the largest group first. */
export function connectedGroups(
  names: readonly string[],
  joins: readonly GraphJoin[],
): readonly (readonly string[])[] {
  const neighbours = neighboursOf(joins);
  const seen = new Set<string>();
  const groups: string[][] = [];
  for (const name of names) {
    if (seen.has(name)) continue;
    seen.add(name);
    const group = [name];
    for (const member of group) {
      const next = [...(neighbours.get(member) ?? [])].filter((own) => !seen.has(own));
      for (const own of next) seen.add(own);
      group.push(...next);
    }
    groups.push(group);
  }
  return groups.toSorted((a, b) => b.length - a.length);
}

export function neighboursOf(
  joins: readonly GraphJoin[],
): ReadonlyMap<string, ReadonlySet<string>> {
  const neighbours = new Map<string, Set<string>>();
  const connect = (one: string, other: string): void => {
    neighbours.set(one, (neighbours.get(one) ?? new Set<string>()).add(other));
  };
  for (const { from, to } of joins) {
    connect(from, to);
    connect(to, from);
  }
  return neighbours;
}

/** Groups in rows as wide as the page, so that small ones do not make a tower. */
function pack(groups: readonly Drawing[], room: number): Drawing {
  let [x, y, rowBottom, width] = [0, 0, 0, 0];
  const datasets: PlacedDataset[] = [];
  const joins: PlacedJoin[] = [];
  for (const group of groups) {
    if (x > 0 && x + group.width > room) [x, y] = [0, rowBottom + gap];
    const move = <T extends Point>(point: T): T => ({ ...point, x: point.x + x, y: point.y + y });
    datasets.push(...group.datasets.map(move));
    joins.push(...group.joins.map((own) => ({ ...own, points: own.points.map(move) })));
    width = Math.max(width, x + group.width);
    rowBottom = Math.max(rowBottom, y + group.height);
    x += group.width + gap;
  }
  return { datasets, joins, width, height: rowBottom };
}
