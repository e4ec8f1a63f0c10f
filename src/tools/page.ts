/** Where an answer goes on: an item, and the character in its JSON where an item larger than a page was cut. */
export interface Position {
  readonly index: number;
  readonly character: number;
}

export interface Page {
  readonly items: readonly unknown[];
  /** A stretch of the JSON of one item that is larger than a page. The stretches of an item, joined, are its JSON. */
  readonly partial?: { readonly item: number; readonly from: number; readonly of: number; readonly json: string };
  readonly next?: Position | undefined;
}

const smallestStretch = 200;

/** As many whole items from `from` as `room` characters of JSON hold, else a stretch of one. Every page makes progress. */
export function cutPage(items: readonly unknown[], from: Position, room: number): Page {
  let index = from.index;
  let left = room;
  if (from.character === 0) {
    for (; index < items.length; index += 1) {
      left -= JSON.stringify(items[index]).length + 1;
      if (left < 0) break;
    }
  }
  const next = index < items.length ? { index, character: 0 } : undefined;
  if (index > from.index || next === undefined) return { items: items.slice(from.index, index), next };
  const json = JSON.stringify(items[index]);
  let end = Math.min(json.length, from.character + Math.max(room, smallestStretch));
  if (/[\ud800-\udbff]/.test(json.charAt(end - 1))) end -= 1;
  const rest = index + 1 < items.length ? { index: index + 1, character: 0 } : undefined;
  const partial = { item: index, from: from.character, of: json.length, json: json.slice(from.character, end) };
  return { items: [], partial, next: end < json.length ? { index, character: end } : rest };
}
