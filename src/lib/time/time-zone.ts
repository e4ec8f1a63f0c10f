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

/**
 * What the clocks of a time zone show at an instant in UTC, both as `YYYY-MM-DD HH:MM:SS`. Throws
 * for another text, and for a local time before the year 0 or after 9999.
 */
export function utcToLocalTime(utc: string, timezone: string): string {
  const instant = Date.parse(`${utc.replace(' ', 'T')}Z`);
  const local = new Date(instant + offsetNear(instant, timezone)).toISOString();
  if (!/^\d{4}-/.test(local))
    throw new Error(`${utc} UTC is outside of the years 0 to 9999 in ${timezone}`);
  return local.slice(0, 19).replace('T', ' ');
}

/** Clocks are hardly ever set within a quarter of an hour of UTC; before 1970 some were. */
const quarterMs = 900_000;
const maxKnownOffsets = 100_000;
const knownOffsets = new Map<string, Map<number, number>>();

/** `clockOffset`, remembered, because it takes microseconds and tables have millions of rows. */
function offsetNear(instant: number, timezone: string): number {
  const known = knownOffsets.get(timezone) ?? new Map<number, number>();
  knownOffsets.set(timezone, known);
  const quarter = Math.floor(instant / quarterMs);
  const found = known.get(quarter);
  if (found !== undefined) return found;
  const offset = clockOffset(quarter * quarterMs, timezone);
  if (offset !== clockOffset((quarter + 1) * quarterMs - 1, timezone))
    return clockOffset(instant, timezone);
  if (known.size >= maxKnownOffsets) known.clear();
  known.set(quarter, offset);
  return offset;
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
