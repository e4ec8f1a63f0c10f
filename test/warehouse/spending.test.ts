import { describe, expect, test } from 'vitest';
import { UserError } from '../../src/lib/error.ts';
import { readLimit } from '../../src/warehouse/drivers/clickhouse/statement-settings.ts';
import { mostBytes, requireAffordable, soundEstimate } from '../../src/warehouse/spending.ts';

const tib = 2 ** 40;

describe('the most bytes that a statement may read', () => {
  test('is the smaller limit of the connection, or that of the call', () => {
    expect(mostBytes({}, {}, 5)).toBeUndefined();
    expect(mostBytes({}, { maxBytes: 10 }, undefined)).toBe(10);
    expect(mostBytes({}, { maxCostUsd: 10 }, 5)).toBe(2 * tib);
    expect(mostBytes({}, { maxBytes: tib, maxCostUsd: 10 }, 5)).toBe(tib);
    expect(mostBytes({ maxBytes: 7 }, { maxBytes: 5, maxCostUsd: 1 }, 5)).toBe(7);
  });

  test('is a number that engines take, and never none on an engine whose 0 is no limit', () => {
    const huge = { maxBytes: 1e24 };
    expect([mostBytes(huge, {}, 5), mostBytes({}, huge, 5)]).toEqual([2 ** 62, 2 ** 62]);
    const settingFor = (most: number, allowed = '0') =>
      readLimit({ max_bytes_to_read: allowed }, most)['max_bytes_to_read'];
    const nearlyNothing = mostBytes({}, { maxCostUsd: 1e-13 }, 5) ?? NaN;
    expect(nearlyNothing).toBe(0);
    expect([settingFor(nearlyNothing), settingFor(nearlyNothing, '100')]).toEqual(['1', '1']);
    expect([settingFor(2 ** 62), settingFor(2.7)]).toEqual([String(2 ** 62), '2']);
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

  test('is not let through for a size that is none', () => {
    const sound = (bytes: number) =>
      soundEstimate({ bytes, bytesBilled: bytes, rows: bytes, kind: 'upper' });
    const unknown = { bytes: undefined, bytesBilled: undefined, rows: undefined, kind: 'upper' };
    for (const size of [-1, NaN, Infinity, -Infinity]) expect(sound(size)).toEqual(unknown);
    expect(sound(2 ** 60)?.bytes).toBe(2 ** 60);
    expect(sound(0)?.bytes).toBe(0);
  });
});
