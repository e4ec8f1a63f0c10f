import type { PlacedDataset, PlacedJoin, Point } from './layout.ts';

/** Pixels between two lines at the side of a dataset. */
const portStep = 4;

/**
 * Leads the lines from the right side of a dataset to the left side of another. Between two layers
 * a line is one bend; through a layer it goes straight, between the datasets there. Lines of one
 * dataset leave it side by side in the order of where they lead, so that they do not cross there.
 */
export function routeJoins(
  datasets: readonly PlacedDataset[],
  joins: readonly PlacedJoin[],
): readonly PlacedJoin[] {
  const byName = new Map(datasets.map((dataset) => [dataset.name, dataset]));
  const layers = widthsOfLayers(datasets);
  const tied = joins.map((placed): PlacedJoin => {
    const { join, points } = placed;
    const [from, to] = [byName.get(join.from), byName.get(join.to)];
    if (from === undefined || to === undefined || from === to) return placed;
    const start = { x: from.x + from.width / 2, y: from.y };
    const end = { x: to.x - to.width / 2 - 2, y: to.y };
    const between = points.slice(1, -1);
    // A name stands on the middle of its line, beside that of other lines.
    const kept = hasRole(placed)
      ? between
      : between.flatMap((point) => throughLayer(point, layers));
    return { join, points: [start, ...kept, end] };
  });
  const leaving = spread(tied, { nameOf: ({ join }) => join.from, byName, at: 0, next: 1 });
  return spread(leaving, { nameOf: ({ join }) => join.to, byName, at: -1, next: -2 });
}

/** True if the join has another name than the dataset that it leads to: the drawing shows it. */
export function hasRole({ join: { role, to } }: Pick<PlacedJoin, 'join'>): boolean {
  return role !== to && role !== '';
}

/** The width of each layer, by the middle of its datasets. */
function widthsOfLayers(datasets: readonly PlacedDataset[]): ReadonlyMap<number, number> {
  const layers = new Map<number, number>();
  for (const { x, width } of datasets)
    layers.set(Math.round(x), Math.max(width, layers.get(Math.round(x)) ?? 0));
  return layers;
}

/** Straight through the layer of the point; nothing for a point between two layers. */
function throughLayer({ x, y }: Point, layers: ReadonlyMap<number, number>): readonly Point[] {
  const width = layers.get(Math.round(x));
  if (width === undefined) return [];
  return [
    { x: x - width / 2, y },
    { x: x + width / 2, y },
  ];
}

interface Side {
  /** The dataset on whose side the lines end. */
  readonly nameOf: (placed: PlacedJoin) => string;
  readonly byName: ReadonlyMap<string, PlacedDataset>;
  /** Which point of a line is on the side, and which one is next to it. */
  readonly at: 0 | -1;
  readonly next: 1 | -2;
}

/** Places the ends of the lines of one dataset side by side. */
function spread(joins: readonly PlacedJoin[], side: Side): readonly PlacedJoin[] {
  const { nameOf, byName, at, next } = side;
  const heights = new Map<PlacedJoin, number>();
  for (const [name, own] of Map.groupBy(joins, nameOf)) {
    const dataset = byName.get(name);
    const lines = own.filter(({ join }) => join.from !== join.to);
    if (dataset === undefined) continue;
    const sorted = lines.toSorted((a, b) => heightAt(a, next) - heightAt(b, next));
    const room = dataset.height - 6;
    const step = Math.min(portStep, room / Math.max(1, lines.length - 1));
    for (const [index, line] of sorted.entries())
      heights.set(line, dataset.y + (index - (lines.length - 1) / 2) * step);
  }
  return joins.map((placed) => {
    const y = heights.get(placed);
    const point = placed.points.at(at);
    if (y === undefined || point === undefined) return placed;
    const index = at === 0 ? 0 : placed.points.length - 1;
    return { ...placed, points: placed.points.with(index, { ...point, y }) };
  });
}

function heightAt({ points }: PlacedJoin, index: number): number {
  return points.at(index)?.y ?? 0;
}
