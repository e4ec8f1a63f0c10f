import type { Warehouse } from '../../src/warehouse/warehouse.ts';

/**
 * The error of a connection that does not open; `opened` if it opens. A test that expects the
 * error of the promise itself prints the whole warehouse when it fails, which takes minutes.
 */
export async function refusalOf(opening: Promise<Warehouse>): Promise<unknown> {
  try {
    await (await opening).close();
    return 'opened';
  } catch (error) {
    return error;
  }
}
