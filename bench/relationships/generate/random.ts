/** Random choices from a generator of numbers from 0 to 1. */
export class Random {
  private readonly next: () => number;

  constructor(next: () => number) {
    this.next = next;
  }

  fraction(): number {
    return this.next();
  }

  /** An integer from 0 to `below - 1`. */
  int(below: number): number {
    return Math.floor(this.next() * below);
  }

  /** True with this probability. */
  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.int(list.length)] as T;
  }

  hex(length: number): string {
    return Array.from({ length }, () => this.int(16).toString(16)).join('');
  }
}
