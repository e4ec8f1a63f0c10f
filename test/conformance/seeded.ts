/** A table of a benchmark: its columns as in CREATE TABLE, and its rows. */
export interface Table {
  readonly columns: string;
  readonly rows: readonly (readonly Cell[])[];
}
export type Cell = string | number | null;

/** Numbers that look random, the same for the same seed. */
export class Dice {
  #state: number;
  constructor(seed: number) {
    this.#state = seed;
  }
  /** At least 0 and less than 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
  /** Both ends included. */
  between(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }
  one<Item>(items: readonly [Item, ...Item[]]): Item {
    return items[this.between(0, items.length - 1)] ?? items[0];
  }
}

export function money(cents: number): string {
  return (cents / 100).toFixed(2);
}

/** The day so many days after another, as ISO text. */
export function dayAfter(start: string, days: number): string {
  return new Date(Date.parse(start) + days * 86_400_000).toISOString().slice(0, 10);
}
