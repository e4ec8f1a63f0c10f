import { limitResultSize, rowSize } from '../result-size.ts';
import type { Cell } from '../warehouse.ts';

/**
 * A part of a result leaves the process when it has about this many bytes; the reader works on it
 * meanwhile.
 */
const bytesPerBatch = 2 ** 20;

/**
 * Collects the rows of a result into batches. `addSize` throws `query_failed` if the result is too
 * large.
 */
export function createRowBatches(emit: (rows: readonly (readonly Cell[])[]) => Promise<void>) {
  const addSize = limitResultSize();
  let rows: (readonly Cell[])[] = [];
  let bytes = 0;
  let count = 0;
  return {
    addSize,
    /** The number of rows so far. */
    count: (): number => count,
    add(cells: readonly Cell[]): void {
      const size = rowSize(cells);
      addSize(size);
      rows.push(cells);
      count += 1;
      // An empty row takes bytes too.
      bytes += size + cells.length;
    },
    isFull: (): boolean => bytes >= bytesPerBatch,
    async flush(): Promise<void> {
      const batch = rows;
      rows = [];
      bytes = 0;
      if (batch.length > 0) await emit(batch);
    },
  };
}
