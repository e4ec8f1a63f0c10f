import { expect, test } from 'vitest';
import { localTimeToUtc } from '../../src/semantic/resolve/literals/zoned-time.ts';

test.each([
  ['2024-10-27 00:00:00', 'Europe/Paris', '2024-10-26 22:00:00', 'summer time still holds'],
  ['2024-10-28 00:00:00', 'Europe/Paris', '2024-10-27 23:00:00', 'summer time is over'],
  ['2024-10-27 02:30:00', 'Europe/Paris', '2024-10-27 00:30:00', 'shown twice: the first'],
  ['2024-03-31 02:30:00', 'Europe/Paris', '2024-03-31 01:30:00', 'skipped: an hour later'],
  ['2024-01-01 00:00:00', 'Asia/Kathmandu', '2023-12-31 18:15:00', 'a quarter of an hour'],
  ['2011-12-30 12:00:00', 'Pacific/Apia', '2011-12-30 22:00:00', 'a day that Samoa skipped'],
  ['2024-06-01 12:00:00', 'UTC', '2024-06-01 12:00:00', 'UTC itself'],
  ['0099-06-01 12:00:00', 'UTC', '0099-06-01 12:00:00', 'two digits are no century'],
])('%s in %s is %s in UTC: %s', (local, zone, utc) => {
  expect(localTimeToUtc(local, zone)).toBe(utc);
});
