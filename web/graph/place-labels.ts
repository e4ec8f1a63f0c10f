import type { PlacedDataset, PlacedJoin, Point } from './layout.ts';
import { hasRole } from './route.ts';

interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** Pixels of a letter of a role, and of its line. */
const [letter, line] = [5.6, 11];
/** How far along its join a role may stand, the middle first. */
const places = [0.5, 0.35, 0.65, 0.2, 0.8];
/** Above the line, below it, then further away. */
const shifts = [-3, 10, -14, 21];

/**
 * Where the role of each join stands, by its subject: on its line, and where no other role and no
 * dataset is. Where everything is taken, in the middle.
 */
export function placeLabels(
  datasets: readonly PlacedDataset[],
  joins: readonly PlacedJoin[],
): ReadonlyMap<string, Point> {
  const taken: Box[] = datasets.map(({ x, y, width, height }) => ({
    left: x - width / 2,
    right: x + width / 2,
    top: y - height / 2,
    bottom: y + height / 2,
  }));
  const labels = new Map<string, Point>();
  for (const { join, points } of joins.filter(hasRole)) {
    const candidates = places.flatMap((place) => {
      const { x, y } = pointAt(points, place);
      return shifts.map((shift) => ({ x, y: y + shift }));
    });
    const [middle] = candidates;
    if (middle === undefined || points.length === 0) continue;
    const boxOf = ({ x, y }: Point): Box => {
      const half = (join.role.length * letter) / 2;
      return { left: x - half, right: x + half, top: y - line + 2, bottom: y + 2 };
    };
    const free = candidates.find((place) => !taken.some((box) => overlap(box, boxOf(place))));
    const chosen = free ?? middle;
    taken.push(boxOf(chosen));
    labels.set(join.subject, chosen);
  }
  return labels;
}

function overlap(a: Box, b: Box): boolean {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

/** The point at a share of the way, along straight lines between the points. */
function pointAt(points: readonly Point[], share: number): Point {
  const at = share * (points.length - 1);
  const from = points[Math.floor(at)] ?? { x: 0, y: 0 };
  const to = points[Math.ceil(at)] ?? from;
  const rest = at - Math.floor(at);
  return { x: from.x + (to.x - from.x) * rest, y: from.y + (to.y - from.y) * rest };
}
