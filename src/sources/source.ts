import type { Catalog } from '../context/catalog/catalog.ts';
import type { Claim } from '../context/claims/claim.ts';

/** One raw thing of a source, as it is kept in git. */
export interface Item {
  /** Identifies it within its source, whatever its text is; stable from run to run. */
  readonly key: string;
  /** Where its body lies below `sources/<connection>/`: stable, with `/`, no `.` or `..` steps, never `index.jsonl`. */
  readonly path: string;
  /** Without what changes by itself (fetch times, usage counts): the same content, the same text. */
  readonly body: string;
}

/**
 * What a fetch tells: an item, or that one could not be read (it stays as it was), and last how the listing ended. Only a
 * complete listing says by its silence that an item is gone.
 */
export type Fetched =
  | ({ readonly kind: 'item' } & Item)
  | { readonly kind: 'failed'; readonly key: string; readonly reason: string }
  | { readonly kind: 'end'; readonly listingComplete: boolean; readonly reason?: string };

export interface FetchContext<Config> {
  /** Name in `ktx.yaml`. */
  readonly connection: string;
  readonly config: Config;
  /** Relative paths of the configuration start here. */
  readonly projectDir: string;
  /** A folder of the source's own for what can be made again, e.g. a clone. */
  readonly cacheDir: string;
  readonly secrets: (reference: string) => string;
  readonly signal: AbortSignal;
}

export interface ExtractContext<Config> {
  readonly connection: string;
  readonly config: Config;
  /** What is known of each warehouse of the project, by connection. */
  readonly catalogs: ReadonlyMap<string, Catalog>;
}

/** What code reads in one item. */
export interface Extraction {
  /** The item's key. */
  readonly key: string;
  /**
   * Evidence: `connection` of the source, `origin: 'code'`, `extractor` of the source, `item: itemPath(connection, path)`,
   * `location: 'line 12'` (a key or a heading may follow), and where it says it in words the `quote`, at most 300 characters.
   */
  readonly claims: readonly Claim[];
  /** Datasets that the item is about, beside the subjects of its claims: `dataset:c.d`. */
  readonly mentions?: readonly string[];
  /** What only a model can read. */
  readonly unread?: readonly Unread[];
  /** What could be read and does not fit, or cannot be read at all; the rest goes on. */
  readonly problems?: readonly Problem[];
}

export interface Unread {
  readonly what: 'prose' | 'sql';
  readonly location: string;
  readonly text: string;
}

interface Problem {
  readonly location: string;
  /** By name: what, and why not. */
  readonly reason: string;
}

/** A kind of source. Adding one is a folder here and its lines in `config.ts` and `registry.ts`. */
export interface Source<Config> {
  /** name@version; another version reads every item anew. */
  readonly extractor: string;
  /** A failure of the whole (unreachable, not a folder) is thrown as a UserError; then everything stays as it was. */
  fetch(context: FetchContext<Config>): AsyncIterable<Fetched>;
  /** Is an item that an earlier run fetched still one that the configuration asks for? Everything, where it is left out. */
  covers?(key: string, config: Config): boolean;
  /** Is it one that says what the source is and nothing of its content? None, where it is left out. */
  isFrame?(key: string): boolean;
  /** Pure, and the same whatever the order of the items: all that stand, also those that did not change. One extraction an item. */
  extract(items: readonly Item[], context: ExtractContext<Config>): readonly Extraction[];
}

/** The path of an item in the project. */
export function itemPath(connection: string, path: string): string {
  return `sources/${connection}/${path}`;
}
