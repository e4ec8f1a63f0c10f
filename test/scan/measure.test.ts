import { expect, test } from 'vitest';
import { scanConfigSchema } from '../../src/scan/config.ts';
import { measureAll, type MeasurementQuery } from '../../src/scan/facts/measure.ts';
import type { ScanContext } from '../../src/scan/scan-context.ts';

/** How many queries each statement had. */
async function statementsOver(rowsOfTables: readonly number[]): Promise<readonly number[]> {
  const sizes: number[] = [];
  const queries = rowsOfTables.map(
    (rows, index) =>
      ({
        sql: `SELECT ${index} AS a`,
        tables: [{ rows, version: '1', schema: { kind: 'table' } }],
        group: '',
      }) as unknown as MeasurementQuery,
  );
  const context = {
    config: scanConfigSchema.parse({}),
    signal: new AbortController().signal,
    store: { measured: () => undefined, save: () => undefined },
    onQuery: () => undefined,
    warehouse: {
      query: async (sql: string) => {
        const found = [
          ...sql.matchAll(/SELECT (\d+) AS ktx_item, m\.\* FROM \(SELECT (\d+) AS a\)/g),
        ];
        sizes.push(found.length);
        return { rows: found.map(([, item, value]) => [Number(item), Number(value)]) };
      },
    },
  } as unknown as ScanContext;
  const results = await measureAll(queries, context);
  expect(results).toEqual(rowsOfTables.map((_, index) => [index]));
  return sizes;
}

test('queries over small tables share a statement, and those over large ones do not', async () => {
  expect(await statementsOver([10, 20, 30])).toEqual([3]);
  expect(await statementsOver([10, 9_000_000, 20, 4_000_000, 4_000_000])).toEqual([1, 1, 2, 1]);
});
