import { UserError } from '../../lib/error.ts';
import { didYouMean } from '../../lib/suggest.ts';
import { itemPath } from '../../sources/source.ts';
import type { WorkUnit } from './unit.ts';

/** The desk of one work unit: what a loop may read there. */
export type ExtractDesk = ReturnType<typeof openExtractDesk>;

function openExtractDesk({ connection, items }: WorkUnit) {
  const byPath = new Map(items.map((one) => [itemPath(connection, one.item.path), one]));
  return {
    /** Paths of the unit's items, and what of them only a model can read. */
    list: () => [...byPath].map(([path, { unread }]) => ({ path, unread: unread.map(({ location }) => location) })),
    /** The text of an item of this unit. */
    text(path: string): string {
      const found = byPath.get(path);
      if (found !== undefined) return found.item.body;
      const hint = didYouMean(path, byPath.keys()) ?? `One of ${[...byPath.keys()].join(', ')}.`;
      throw new UserError('not_in_unit', `${path} is no item of this work unit. ${hint}`);
    },
  };
}
