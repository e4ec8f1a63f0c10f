import { itemPath } from '../../sources/source.ts';
import { untrustedBlock } from '../../lib/untrusted.ts';
import type { WorkUnit } from './work-units.ts';

const longest = 24_000;

/** What is to be read, as a model sees it: the items with the passages that code did not understand, as far as there is room. */
export function pictureOf({ connection, items }: Pick<WorkUnit, 'connection' | 'items'>): string {
  let room = longest;
  const shown = items.map(({ item, unread }) => ({
    item: itemPath(connection, item.path),
    passages: unread.flatMap(({ what, location, text }) => {
      const cut = text.slice(0, Math.max(0, room));
      room -= text.length;
      const rest = cut.length < text.length ? { rest: 'read_item_span shows it' } : {};
      return [{ what, location, text: cut, ...rest }];
    }),
  }));
  return untrustedBlock(connection, JSON.stringify(shown, null, 1));
}
