import { expect, test } from 'vitest';
import { formatByteSize, parseByteSize } from '../../src/lib/byte-size.ts';

test.each([
  ['10GB', 10_000_000_000],
  ['10 gb', 10_000_000_000],
  ['1.5 TiB', 1_649_267_441_664],
  ['512KiB', 524_288],
  ['500000', 500_000],
  ['7 B', 7],
])('reads %s', (text, bytes) => {
  expect(parseByteSize(text)).toBe(bytes);
});

test.each(['', 'GB', '-1GB', '0', '1e9', '10 parsecs', '1,5GB', '0.1'])(
  'takes %j for no size',
  (text) => {
    expect(parseByteSize(text)).toBeUndefined();
  },
);

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [1000, '1.0 kB'],
  [12_345_678, '12 MB'],
  [1_649_267_441_664, '1.6 TB'],
  [2e18, '2000 PB'],
])('writes %d as %s', (bytes, text) => {
  expect(formatByteSize(bytes)).toBe(text);
});
