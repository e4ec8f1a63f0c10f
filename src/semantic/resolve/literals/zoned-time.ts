/**
 * The instant at which the clocks of a time zone show a local time, both as `YYYY-MM-DD HH:MM:SS`;
 * the result is in UTC. A time that the clocks show twice is the first of the two; one that they
 * skip is moved forward by as much as they are.
 */
export function localTimeToUtc(local: string, timezone: string): string {
  const asUtc = Date.parse(`${local.replace(' ', 'T')}Z`);
  const before = clockOffset(asUtc - dayMs, timezone);
  const after = clockOffset(asUtc + dayMs, timezone);
  const instants = [before, after]
    .map((offset) => ({ offset, instant: asUtc - offset }))
    .filter(({ offset, instant }) => clockOffset(instant, timezone) === offset)
    .map(({ instant }) => instant);
  const instant = instants.length === 0 ? asUtc - before : Math.min(...instants);
  return new Date(instant).toISOString().slice(0, 19).replace('T', ' ');
}

const dayMs = 86_400_000;
const clocks = new Map<string, Intl.DateTimeFormat>();

/** By how much the clocks of the zone are ahead of UTC at an instant. Both in milliseconds. */
function clockOffset(instant: number, timezone: string): number {
  const clock = clocks.get(timezone) ?? openClock(timezone);
  const shown = Object.fromEntries(
    clock.formatToParts(instant).map(({ type, value }) => [type, Number(value)]),
  );
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = shown;
  const asUtc = new Date(0);
  asUtc.setUTCFullYear(year, month - 1, day);
  asUtc.setUTCHours(hour, minute, second);
  return asUtc.getTime() - Math.floor(instant / 1000) * 1000;
}

function openClock(timezone: string): Intl.DateTimeFormat {
  const clock = new Intl.DateTimeFormat('en-US-u-ca-gregory-nu-latn', {
    timeZone: timezone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  clocks.set(timezone, clock);
  return clock;
}
