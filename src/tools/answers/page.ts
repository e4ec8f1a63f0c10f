/** Where an answer continues: an item, and a character in its JSON if the item was cut. */
export interface PagePosition {
  readonly index: number;
  readonly character: number;
}

interface Page {
  readonly items: readonly unknown[];
  /**
   * A part of the JSON of one item that is larger than a page. The parts of an item, joined, are
   * its JSON.
   */
  readonly partial?: {
    readonly item: number;
    readonly from: number;
    readonly of: number;
    readonly json: string;
  };
  readonly next?: PagePosition | undefined;
}

const minPartLength = 200;

/**
 * Whole items from the position on, as many as `room` characters of JSON hold; otherwise a part of
 * one. Never empty before the end.
 */
export function cutPage(
  items: readonly unknown[],
  { index, character }: PagePosition,
  room: number,
): Page {
  const end = character === 0 ? lastFittingIndex(items, index, room) : index;
  if (end > index || end === items.length)
    return { items: items.slice(index, end), next: positionOf(end, items) };
  const json = JSON.stringify(items[index]);
  let cut = Math.min(json.length, character + Math.max(room, minPartLength));
  const splitsSurrogatePair = /[\ud800-\udbff]/.test(json.charAt(cut - 1));
  if (splitsSurrogatePair) cut -= 1;
  const partial = {
    item: index,
    from: character,
    of: json.length,
    json: json.slice(character, cut),
  };
  const next = cut < json.length ? { index, character: cut } : positionOf(index + 1, items);
  return { items: [], partial, next };
}

/** The index after the last item that fits, together with those from `start` on. */
function lastFittingIndex(items: readonly unknown[], start: number, room: number): number {
  let end = start;
  for (let left = room; left > 0 && end < items.length; end += 1) {
    left -= JSON.stringify(items[end]).length + 1;
    if (left < 0) break;
  }
  return end;
}

function positionOf(index: number, items: readonly unknown[]): PagePosition | undefined {
  return index < items.length ? { index, character: 0 } : undefined;
}
