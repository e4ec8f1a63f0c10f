import { uniteClaims } from '../../context/claims/claims-file.ts';
import type { UnreadText } from '../../sources/source.ts';
import type { ItemOutcome } from './proposals/proposals-session.ts';
import type { PendingItem } from './work-units.ts';

/** A longer item is read in parts: a prompt would cut it. */
const longestItem = 20_000;
const longestPart = 14_000;
/** What two parts share, so that no statement is torn. */
const overlap = 800;

/** The parts in which a model reads the item: the item itself, or several that overlap. */
export function splitItem(item: PendingItem): readonly PendingItem[] {
  const characters = item.unread.reduce((sum, { text }) => sum + text.length, 0);
  if (characters <= longestItem) return [item];
  const groups = groupPassages(item.unread.flatMap(splitPassage));
  return groups.map((unread, index): PendingItem => {
    const part = ` part ${index + 1} of ${groups.length}`;
    return {
      ...item,
      unread,
      key: `${item.key}${part}`,
      readingKey: `${item.readingKey}${part}`,
      whole: item,
    };
  });
}

/** Passages of at most the length of a part, cut at ends of lines or words where there are any. */
function splitPassage(passage: UnreadText): readonly UnreadText[] {
  const { text } = passage;
  if (text.length <= longestPart) return [passage];
  const pieces: UnreadText[] = [];
  let start = 0;
  while (start < text.length) {
    const end = start + longestPart >= text.length ? text.length : cutBefore(text, start);
    pieces.push({ ...passage, text: text.slice(start, end) });
    start = end >= text.length ? end : Math.max(start + 1, end - overlap);
  }
  return pieces;
}

function cutBefore(text: string, start: number): number {
  const latest = start + longestPart;
  const earliest = start + longestPart / 2;
  const cut = ['\n', ' '].map((mark) => text.lastIndexOf(mark, latest)).find((at) => at > earliest);
  return cut ?? latest;
}

function groupPassages(passages: readonly UnreadText[]): UnreadText[][] {
  const groups: { passages: UnreadText[]; characters: number }[] = [];
  for (const passage of passages) {
    const last = groups.at(-1);
    if (last !== undefined && last.characters + passage.text.length <= longestPart) {
      last.passages.push(passage);
      last.characters += passage.text.length;
      continue;
    }
    const before = last?.passages.at(-1);
    const shared =
      before !== undefined && before.text.length <= overlap && before.location !== passage.location
        ? [before]
        : [];
    const characters = [...shared, passage].reduce((sum, { text }) => sum + text.length, 0);
    groups.push({ passages: [...shared, passage], characters });
  }
  return groups.map((group) => group.passages);
}

/**
 * The outcomes of whole items: an item that was read in parts has one once all its parts have. With
 * less than that it stays pending.
 */
export function outcomesOfWholes(
  outcomes: ReadonlyMap<PendingItem, ItemOutcome>,
  parts: readonly PendingItem[],
): ReadonlyMap<PendingItem, ItemOutcome> {
  const wholes = new Map([...outcomes].filter(([{ whole }]) => whole === undefined));
  const byWhole = Map.groupBy(
    parts.filter(({ whole }) => whole !== undefined),
    ({ whole }) => whole,
  );
  for (const [whole, own] of byWhole) {
    const read = own.flatMap((part) => outcomes.get(part) ?? []);
    if (whole === undefined || read.length < own.length) continue;
    wholes.set(whole, {
      claims: uniteClaims(read.flatMap(({ claims }) => claims)),
      unmapped: read.flatMap(({ unmapped }) => unmapped),
    });
  }
  return wholes;
}
