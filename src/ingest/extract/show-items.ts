import { untrustedBlock } from '../../lib/untrusted.ts';
import { itemPath } from '../../sources/source.ts';
import type { WorkUnit } from './work-units.ts';

const mostCharacters = 24_000;

/**
 * Items as a prompt shows them: the passages that code did not understand, cut at a total length.
 */
export function showItems({ connection, items }: Pick<WorkUnit, 'connection' | 'items'>): string {
  let room = mostCharacters;
  const shown = items.map(({ item, unread }) => ({
    item: itemPath(connection, item.path),
    passages: unread.map(({ what, location, text }) => {
      const excerpt = text.slice(0, Math.max(0, room));
      room -= text.length;
      const isCut = excerpt.length < text.length;
      return {
        what,
        location,
        text: excerpt,
        ...(isCut ? { rest: 'read_item_span shows it' } : {}),
      };
    }),
  }));
  return untrustedBlock(connection, JSON.stringify(shown, null, 1));
}
