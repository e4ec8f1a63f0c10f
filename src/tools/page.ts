/** Where an answer goes on: an item, and the character in its JSON where an item larger than a page was cut. */
export interface Position {
  readonly index: number;
  readonly character: number;
}

interface Page {
  readonly items: readonly unknown[];
  /** A stretch of the JSON of one item that is larger than a page. The stretches of an item, joined, are its JSON. */
  readonly partial?: {
    readonly item: number;
    readonly from: number;
    readonly of: number;
    readonly json: string;
  };
  readonly next?: Position | undefined;
}

const smallestStretch = 200;

/** As many whole items from `from` as `room` characters of JSON hold, else a stretch of one. Every page makes progress. */
export function cutPage(
  items: readonly unknown[],
  { index, character }: Position,
  room: number,
): Page {
  let end = index;
  for (let left = character === 0 ? room : 0; left > 0 && end < items.length; end += 1) {
    left -= JSON.stringify(items[end]).length + 1;
    if (left < 0) break;
  }
  const positionOf = (item: number) =>
    item < items.length ? { index: item, character: 0 } : undefined;
  if (end > index || end === items.length)
    return { items: items.slice(index, end), next: positionOf(end) };
  const json = JSON.stringify(items[index]);
  let cut = Math.min(json.length, character + Math.max(room, smallestStretch));
  if (/[\ud800-\udbff]/.test(json.charAt(cut - 1))) cut -= 1;
  const partial = {
    item: index,
    from: character,
    of: json.length,
    json: json.slice(character, cut),
  };
  return {
    items: [],
    partial,
    next: cut < json.length ? { index, character: cut } : positionOf(index + 1),
  };
}
