import { expect, test } from 'vitest';
import { localTimeToUtc, utcToLocalTime } from '../../src/lib/time/time-zone.ts';

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

test.each([
  ['2024-03-31 00:59:59', 'Europe/Paris', '2024-03-31 01:59:59', 'a second before summer time'],
  ['2024-03-31 01:00:00', 'Europe/Paris', '2024-03-31 03:00:00', 'summer time'],
  ['2024-10-27 00:59:59', 'Europe/Paris', '2024-10-27 02:59:59', 'the first of two'],
  ['2024-10-27 01:00:00', 'Europe/Paris', '2024-10-27 02:00:00', 'the second of two'],
  ['2024-01-01 00:00:00', 'Asia/Kathmandu', '2024-01-01 05:45:00', 'a quarter of an hour'],
  ['1911-03-10 23:50:38', 'Europe/Paris', '1911-03-10 23:59:59', 'the local time of Paris'],
  ['1911-03-10 23:50:39', 'Europe/Paris', '1911-03-10 23:50:39', 'a second later, of Greenwich'],
])('%s in UTC is in %s %s: %s', (utc, zone, local) => {
  expect(utcToLocalTime(utc, zone)).toBe(local);
});

test('a local time after the year 9999 is an error, not another time', () => {
  expect(() => utcToLocalTime('9999-12-31 23:30:00', 'Europe/Paris')).toThrow('0 to 9999');
  expect(utcToLocalTime('9999-12-31 23:30:00', 'America/New_York')).toBe('9999-12-31 18:30:00');
});

test('an instant has the local time that the clocks of Intl show, at every hour of a year', () => {
  const zones = ['America/New_York', 'Australia/Lord_Howe', 'Pacific/Apia', 'Africa/Casablanca'];
  for (const timeZone of zones) {
    const clock = new Intl.DateTimeFormat('sv-SE', {
      timeZone,
      dateStyle: 'short',
      timeStyle: 'medium',
    });
    for (
      let instant = Date.UTC(2011, 0, 1, 0, 29);
      instant < Date.UTC(2012, 0, 1);
      instant += 36e5
    ) {
      const utc = new Date(instant).toISOString().slice(0, 19).replace('T', ' ');
      expect(utcToLocalTime(utc, timeZone)).toBe(clock.format(instant));
    }
  }
});
