/** The keys and links that relationship discovery should find in a database. */
export interface DatabaseTruth {
  readonly primary_keys: Readonly<Record<string, readonly string[]>>;
  readonly links: readonly TrueLink[];
  /** Links that may be found or not: they count neither way. */
  readonly open?: readonly TrueLink[];
}

export interface TrueLink {
  readonly from: string;
  readonly from_columns: readonly string[];
  readonly to: string;
  readonly to_columns: readonly string[];
}

export type GeneratedCell = string | number | null;

export interface GeneratedColumn {
  readonly name: string;
  readonly type: string;
  /** One per row. */
  values: GeneratedCell[];
}

export interface GeneratedDatabase {
  readonly truth: DatabaseTruth;
  readonly tables: readonly {
    readonly name: string;
    readonly columns: readonly GeneratedColumn[];
  }[];
  /** Views, and tables that have rows of others. */
  readonly copies?: readonly DatabaseCopy[] | undefined;
}

type DatabaseCopy = { readonly name: string } & (
  | { readonly view: string }
  | { readonly partOf: string; readonly where: string }
);

/** A generator of numbers from 0 to 1; equal seeds give equal numbers. */
export function seededRandom(seed: number): () => number {
  let state = (seed * 2_654_435_761) >>> 0 || 1;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
