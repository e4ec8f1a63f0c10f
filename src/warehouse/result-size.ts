import { warehouseError } from './warehouse-error.ts';
import type { Cell } from './warehouse.ts';

/** Limit for one result, in bytes. A process that keeps and prints more runs out of memory. */
export const maxResultSize = 64 * 2 ** 20;

/**
 * Bytes that a server may send in one transaction. Statements of people have the smaller limit.
 */
const maxTransactionBytes = 256 * 2 ** 20;

/** Bytes that a server may send while somebody logs in. */
const maxLoginBytes = 2 ** 20;

/** Counts what a server sends; throws when it is more than it may send now. */
export function limitServerBytes() {
  let bytes = 0;
  let most = maxLoginBytes;
  return {
    startTransaction(): void {
      bytes = 0;
      most = maxTransactionBytes;
    },
    count(size: number): void {
      bytes += size;
      if (bytes > most) throw new Error(`it sent more than ${most / 2 ** 20} MiB at once`);
    },
  };
}

/**
 * Returns a function that adds to the size of one result, and throws `query_failed` when the result
 * is too large.
 */
export function limitResultSize(): (size: number) => void {
  let total = 0;
  return (size) => {
    total += size;
    if (total > maxResultSize)
      throw warehouseError(
        'query_failed',
        'The result is too large: ask for fewer rows or columns, or shorter values.',
      );
  };
}

/** The approximate size of a row in bytes. */
export function rowSize(cells: readonly Cell[]): number {
  return cells.reduce<number>(
    (size, cell) => size + (typeof cell === 'string' ? cell.length : 8),
    0,
  );
}
