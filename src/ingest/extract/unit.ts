import type { Item, Unread } from '../../sources/source.ts';

/** An item with what of it only a model can read. */
interface UnitItem {
  readonly item: Item;
  readonly unread: readonly Unread[];
}

/** The items that one extraction takes together; all of one source. */
export interface WorkUnit {
  /** `<source>/<key of the first item>`. */
  readonly id: string;
  /** The source. */
  readonly connection: string;
  readonly items: readonly UnitItem[];
}
