import type { Catalog } from '../context/catalog/catalog.ts';
import type { Claim } from '../context/claims/claim.ts';

/** One thing of a source as it was fetched; kept in git. */
export interface Item {
  /** Identifies the item within its source; stable from run to run. */
  readonly key: string;
  /**
   * Of its body below `sources/<connection>/`: stable, with `/`, no `.` or `..` steps, never
   * `index.jsonl`.
   */
  readonly path: string;
  /**
   * Without what changes by itself, like fetch times and usage counts: equal content gives equal
   * text.
   */
  readonly body: string;
}

/**
 * One step of a fetch: an item; an item that the project has in this version already; an item that
 * could not be read, which stays as it was; and last, how the listing ended. Items that are missing
 * from a complete listing are gone.
 */
export type FetchEvent =
  | ({
      readonly kind: 'item';
      /**
       * The version of the object, as its tool counts it. With it, a later run need not ask for the
       * body again, also after one that was interrupted.
       */
      readonly stamp?: string | undefined;
    } & Item)
  | { readonly kind: 'known'; readonly key: string }
  /** An object without content, in this version: there is no item. */
  | { readonly kind: 'empty'; readonly key: string; readonly stamp?: string | undefined }
  | { readonly kind: 'failed'; readonly key: string; readonly reason: string }
  | { readonly kind: 'end'; readonly listingComplete: boolean; readonly reason?: string };

export interface FetchContext<Config> {
  /** The name in `ktx.yaml`. */
  readonly connection: string;
  readonly config: Config;
  /** Relative paths of the configuration start here. */
  readonly projectDir: string;
  /** The source's own folder for files that can be made again, such as a clone. */
  readonly cacheDir: string;
  readonly secrets: (reference: string) => string;
  readonly memory: FetchMemory;
  /** How long a server may make the fetch wait, in milliseconds. */
  readonly longestWait: number;
  /** A server makes the fetch wait, for a time that a person would notice. */
  readonly onWait: (wait: ServerWait) => void;
  /** Set for `look`. */
  readonly warehouses?: readonly WarehousePlace[];
  readonly signal: AbortSignal;
}

/** What earlier fetches left on this machine and in the project. */
export interface FetchMemory {
  /** The keys of the items that the project has. */
  readonly keys: ReadonlySet<string>;
  /** Whether the project has the item with this body: what was checked then holds. */
  has(key: string, body: string): boolean;
  /**
   * Whether the item was read in the version of the stamp, at most `maxAge` milliseconds ago, and
   * is still there, or was empty: then `known` takes the place of the item.
   */
  isKnown(key: string, version: { readonly stamp: string; readonly maxAge: number }): boolean;
}

/** A server that asks to wait. */
export interface ServerWait {
  readonly host: string;
  readonly until: Date;
}

/** Where a warehouse of the project is. */
export interface WarehousePlace {
  readonly connection: string;
  readonly driver: string;
  readonly host: string | undefined;
  /** Undefined for that of the engine. */
  readonly port?: string | undefined;
  readonly database: string | undefined;
}

/** A part of a source that is in the same place as a warehouse, which a person has to confirm. */
export interface ProposedWarehouse {
  /** The setting of the source, such as `databases`, and what it names there. */
  readonly setting: string;
  readonly key: string;
  readonly connection: string;
  /** For a person: `database 3 Analytics (postgres at db.example.com/shop)`. */
  readonly what: string;
}

/** What the login of a connection sees, as a few requests show it. */
export interface SourceSight {
  /** Who is logged in, and where. */
  readonly login: string;
  /** What is there to read, a line each: `2 spaces: FIN Finance, OPS Operations`. */
  readonly sees: readonly string[];
  /** What will not be read, or lead to no table, with what to do about it. */
  readonly misses: readonly string[];
  readonly proposed?: readonly ProposedWarehouse[];
}

export interface ExtractContext<Config> {
  readonly connection: string;
  readonly config: Config;
  /** The catalog of each warehouse of the project, by connection. */
  readonly catalogs: ReadonlyMap<string, Catalog>;
}

/** What code reads in one item. */
export interface Extraction {
  /** The key of the item. */
  readonly key: string;
  /**
   * The evidence of each: `connection` of the source, `origin: 'code'`, `extractor` of the source,
   * `item: itemPath(connection, path)`, `location: 'line 12'` (a key or a heading may follow), and
   * the `quote`, at most 300 characters, where words say it.
   */
  readonly claims: readonly Claim[];
  /** Datasets that the item is about, beside the subjects of its claims: `dataset:c.d`. */
  readonly mentions?: readonly string[];
  /** What only a model can read. */
  readonly unread?: readonly UnreadText[];
  /** Parts that do not fit or cannot be read. Everything else is read all the same. */
  readonly problems?: readonly ExtractionProblem[];
  /** How many statements of the item arrived as claims. */
  readonly statements?: number;
  /** Statements that ktx understands and has no place for. */
  readonly leftOut?: readonly LeftOutStatement[];
}

export interface LeftOutStatement {
  readonly location: string;
  /** Its kind, like `unit test`: what the report of a run counts. */
  readonly what: string;
  /** Its name, or what it is about. */
  readonly name?: string | undefined;
}

export interface UnreadText {
  readonly what: 'prose' | 'sql';
  readonly location: string;
  readonly text: string;
}

interface ExtractionProblem {
  readonly location: string;
  /** What could not be read, by name, and why. */
  readonly reason: string;
}

/** A table that a source knows, and what it is made of. */
export interface Transformation {
  readonly id: string;
  /** As people say it: `model orders`. */
  readonly name: string;
  /** The key of the item that says how it is made. */
  readonly item: string;
  readonly table: string;
  /** Where the table may be; empty if that is not known. */
  readonly schemas: readonly string[];
  /** Ids of those that it reads. */
  readonly reads: readonly string[];
}

/** A kind of source. To add one, add a folder here and a line in `config.ts` and `registry.ts`. */
export interface Source<Config> {
  /** As name@version. Another version reads every item again. */
  readonly extractor: string;
  /**
   * Throws a UserError if the source cannot be read at all, for example if it is unreachable; then
   * all items stay as they were.
   */
  fetch(context: FetchContext<Config>): AsyncIterable<FetchEvent>;
  /**
   * Logs in and looks around with a few requests. Throws like `fetch`. Without this method, all
   * items are read to see what is there.
   */
  look?(context: FetchContext<Config>): Promise<SourceSight>;
  /** The address of what an item is about, in the tool that it comes from. */
  address?(key: string, config: Config): string | undefined;
  /**
   * Whether the configuration still asks for an item of an earlier run, so that its absence from a
   * complete listing removes it. Without this method, it asks for all.
   */
  covers?(key: string, config: Config): boolean;
  /**
   * Whether an item only configures the source and has no content. A source with no other items
   * counts as empty.
   */
  isConfiguration?(key: string): boolean;
  /** What makes tables of others, as the items say it. Takes all items. */
  transformations?(items: readonly Item[], config: Config): readonly Transformation[];
  /** True if `extract` runs inside `withAnalyzer`. */
  readonly parsesSql?: boolean;
  /**
   * Gives one extraction for each item. Takes all items, changed or not; the result depends neither
   * on their order nor on anything outside of the arguments.
   */
  extract(items: readonly Item[], context: ExtractContext<Config>): readonly Extraction[];
}

/** The path of an item in the project. */
export function itemPath(connection: string, path: string): string {
  return `sources/${connection}/${path}`;
}
