import { graphlib, layout } from '@dagrejs/dagre';
import type { JoinGraph } from '../answers.ts';

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

const rowHeight = 24;
const letterWidth = 6.7;
const gap = 26;

/**
 * Places datasets in layers: the many sides on the left, what they refer to on the right. Groups
 * that no join connects stand below each other, the largest first.
 */
export function layOut(
  names: readonly string[],
  joins: readonly GraphJoin[],
  room: number,
): Drawing {
  const groups = connectedGroups(names, joins).map((group) => {
    const inside = new Set(group);
    return layOutGroup(
      group,
      joins.filter(({ from }) => inside.has(from)),
    );
  });
  return pack(groups, room);
}

function layOutGroup(names: readonly string[], joins: readonly GraphJoin[]): Drawing {
  const graph = new graphlib.Graph({ multigraph: true });
  graph.setGraph({
    rankdir: 'LR',
    nodesep: 9,
    edgesep: 5,
    ranksep: 58,
    marginx: 2,
    marginy: 2,
    ranker: 'network-simplex',
  });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const name of names) graph.setNode(name, sizeOf(name));
  const isLoop = ({ from, to }: GraphJoin) => from === to;
  for (const [index, join] of joins.entries())
    if (!isLoop(join)) graph.setEdge(join.from, join.to, {}, String(index));
  layout(graph);
  const datasets = names.map((name) => ({
    ...atOrigin,
    ...sizeOf(name),
    ...graph.node(name),
    name,
  }));
  const byName = new Map(datasets.map((dataset) => [dataset.name, dataset]));
  const placed = joins.map((join, index): PlacedJoin => {
    if (isLoop(join)) return { join, points: loopAround(byName.get(join.from)) };
    const edge: unknown = graph.edge(join.from, join.to, String(index));
    return { join, points: pointsOf(edge) };
  });
  const { width = 0, height = 0 } = graph.graph();
  const loops = joins.some(isLoop) ? 14 : 0;
  return { datasets, joins: placed, width: width + loops, height: height + loops };
}

const atOrigin = { x: 0, y: 0 };

function sizeOf(name: string) {
  return { width: Math.round(name.length * letterWidth + 20), height: rowHeight };
}

function pointsOf(edge: unknown): readonly Point[] {
  return edge instanceof Object && 'points' in edge ? (edge.points as readonly Point[]) : [];
}

/** A join of a dataset with itself leaves it on top and comes back on the right. */
function loopAround(dataset: PlacedDataset | undefined): readonly Point[] {
  if (dataset === undefined) return [];
  const { x, y, width, height } = dataset;
  const right = x + width / 2;
  return [
    { x: right - 10, y: y + height / 2 },
    { x: right + 4, y: y + height / 2 + 8 },
    { x: right + 10, y: y + 4 },
    { x: right, y },
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
