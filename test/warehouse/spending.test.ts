import { describe, expect, test } from 'vitest';
import { UserError } from '../../src/lib/error.ts';
import { isLimitWarning, mostBytes, requireAffordable } from '../../src/warehouse/spending.ts';

import { generous, makeDatabase, never } from '../support/warehouses.ts';

const tib = 2 ** 40;

describe('the most bytes that a statement may read', () => {
  test('is the smaller limit of the connection, or that of the call', () => {
    expect(mostBytes({}, {}, 5)).toBeUndefined();
    expect(mostBytes({}, { maxBytes: 10 }, undefined)).toBe(10);
    expect(mostBytes({}, { maxCostUsd: 10 }, 5)).toBe(2 * tib);
    expect(mostBytes({}, { maxBytes: tib, maxCostUsd: 10 }, 5)).toBe(tib);
    expect(mostBytes({ maxBytes: 7 }, { maxBytes: 5, maxCostUsd: 1 }, 5)).toBe(7);
  });

  test('is not limited by money where bytes cost none', () => {
    expect(mostBytes({}, { maxCostUsd: 1 }, undefined)).toBeUndefined();
  });
});

describe('a statement that would read more', () => {
  const refusal = (bytes: number, kind: 'exact' | 'upper' | 'guess', usdPerTib?: number) => {
    try {
      requireAffordable({ bytes, kind }, 1_000_000_000, usdPerTib);
    } catch (error) {
      if (error instanceof UserError) return error;
    }
    return undefined;
  };

  test('is refused with the estimate, the limit, the price and the flag', () => {
    expect(refusal(2 * tib, 'exact', 6.25)).toMatchObject({
      code: 'too_expensive',
      message: 'Not run: the query would read 2.2 TB (about $12.50); the limit is 1.0 GB.',
      hint: 'Narrow it (a time, fewer columns), or allow more: --max-bytes 3TB, or query.max_bytes in ktx.yaml.',
      details: { bytes: 2 * tib, limit: 1_000_000_000, kind: 'exact' },
    });
    expect(refusal(1_000_000_001, 'guess')?.message).toBe(
      'Not run: the query would read about 1.0 GB; the limit is 1.0 GB.',
    );
    expect(refusal(3_000_000_000, 'upper', 6.25)?.message).toContain('up to 3.0 GB (about $0.017)');
  });

  test('is let through at the limit, and where the engine does not tell', () => {
    expect(refusal(1_000_000_000, 'exact')).toBeUndefined();
    expect(() => requireAffordable({ kind: 'guess' }, 1, undefined)).not.toThrow();
  });
});

describe('a limit of bytes', () => {
  const limited = { ...generous, maxBytes: 1_000_000 };
  const script = 'CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (1);';

  test.each(['duckdb', 'sqlite', 'postgres', 'redshift', 'databricks'] as const)(
    'is said to have no effect on %s, which does not tell what a statement reads',
    async (engine) => {
      const database = await makeDatabase(engine, script);
      const warehouse = await database.open();
      try {
        const { rows, warnings } = await warehouse.query('SELECT a FROM t', limited, never);
        expect(rows).toEqual([[1]]);
        expect(warnings).toEqual([expect.stringContaining('The limit of bytes has no effect: ')]);
        expect(warnings.every(isLimitWarning)).toBe(true);
        expect((await warehouse.query('SELECT a FROM t', generous, never)).warnings).toEqual([]);
      } finally {
        await warehouse.close();
        await database.remove();
      }
    },
  );

  test.each(['bigquery', 'snowflake', 'trino', 'sqlserver'] as const)(
    'holds on %s, without a word',
    async (engine) => {
      const database = await makeDatabase(engine, script);
      const warehouse = await database.open();
      try {
        const { warnings } = await warehouse.query('SELECT a FROM t', limited, never);
        expect(warnings).toEqual([]);
      } finally {
        await warehouse.close();
        await database.remove();
      }
    },
  );
});
