import type { LimitReport } from '../port/backend.ts';

export type ResponseHeaders = Readonly<Record<string, string | undefined>>;

/** The limits of a Claude subscription. */
const unified = 'anthropic-ratelimit-unified';

/** A limit counts as near if at most this share of it is left. */
const nearShare = 0.1;

interface WindowHeaders {
  limit?: string;
  remaining?: string;
  reset?: string;
}

/**
 * Reads the state of each limit from response headers such as
 * `anthropic-ratelimit-tokens-remaining`.
 */
export function limitsFromHeaders(
  headers: ResponseHeaders | undefined,
  now = Date.now(),
): readonly LimitReport[] {
  return [...headersByWindow(headers ?? {})].flatMap(([window, { limit, remaining, reset }]) => {
    if (limit === undefined || remaining === undefined) return [];
    const whole = Number(limit);
    const left = Number(remaining);
    const areNumbers = whole > 0 && left >= 0;
    if (!areNumbers) return [];
    const share = Math.min(1, left / whole);
    return [
      {
        window,
        state: share <= nearShare ? 'near' : 'open',
        utilization: 1 - share,
        resetsAt: parseMoment(reset, now),
      } as const,
    ];
  });
}

/**
 * The limit that a refused request exceeded, with the time to try again: `retry-after`, else the
 * reset of the limit.
 */
export function exceededLimit(headers: ResponseHeaders | undefined, now = Date.now()): LimitReport {
  const ofSubscription = subscriptionLimitOf(headers ?? {}, now);
  if (ofSubscription !== undefined) return ofSubscription;
  const [fullest] = limitsFromHeaders(headers, now).toSorted(
    (a, b) => (b.utilization ?? 0) - (a.utilization ?? 0),
  );
  const exceeded = fullest?.state === 'near' ? fullest : undefined;
  return {
    window: exceeded?.window ?? 'rate',
    state: 'closed',
    utilization: 1,
    resetsAt: retryAfter(headers, now) ?? exceeded?.resetsAt ?? otherReset(headers ?? {}, now),
  };
}

/** When the provider asks to be asked again. */
export function retryAfter(
  headers: ResponseHeaders | undefined,
  now = Date.now(),
): Date | undefined {
  const milliseconds = headers?.['retry-after-ms'];
  return parseMoment(
    milliseconds === undefined ? headers?.['retry-after'] : `${milliseconds}ms`,
    now,
  );
}

/** The limit of a Claude subscription that was reached, and its reset. */
function subscriptionLimitOf(headers: ResponseHeaders, now: number): LimitReport | undefined {
  const { [`${unified}-status`]: status, [`${unified}-reset`]: reset } = headers;
  const { [`${unified}-representative-claim`]: window = 'subscription' } = headers;
  if (reset === undefined || (status ?? 'rejected') !== 'rejected') return undefined;
  return { window, state: 'closed', utilization: 1, resetsAt: parseMoment(reset, now) };
}

/**
 * The reset of a limit whose size is not told: one without a name, else the latest of those with
 * names.
 */
function otherReset(headers: ResponseHeaders, now: number): Date | undefined {
  const plain = parseMoment(headers['x-ratelimit-reset'] ?? headers['ratelimit-reset'], now);
  const named = [...headersByWindow(headers).values()]
    .filter(({ limit, remaining }) => limit === undefined || remaining === undefined)
    .flatMap(({ reset }) => parseMoment(reset, now) ?? []);
  return plain ?? named.toSorted((a, b) => b.getTime() - a.getTime())[0];
}

function headersByWindow(headers: ResponseHeaders): ReadonlyMap<string, WindowHeaders> {
  const windows = new Map<string, WindowHeaders>();
  for (const [name, value] of Object.entries(headers)) {
    const [, window, field] = /^anthropic-ratelimit-(.+)-(limit|remaining|reset)$/.exec(name) ?? [];
    const [, otherField, otherWindow] =
      /^x-ratelimit-(limit|remaining|reset)-(.+)$/.exec(name) ?? [];
    const key = window ?? otherWindow;
    if (key === undefined) continue;
    windows.set(key, { ...windows.get(key), [field ?? otherField ?? '']: value });
  }
  return windows;
}

/**
 * Numbers from here on are seconds since 1970, or milliseconds if they are a thousand times larger.
 */
const firstEpochSecond = 1_000_000_000;

/**
 * Parses a header's time: seconds from now, seconds or milliseconds since 1970, a duration such as
 * `6m0s` or `20ms`, or a date.
 */
function parseMoment(text: string | undefined, now: number): Date | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  const count = Number(text);
  if (count >= firstEpochSecond * 1000) return validDate(count);
  if (count >= firstEpochSecond) return validDate(count * 1000);
  if (Number.isFinite(count)) return validDate(now + count * 1000);
  const durationMs = parseResetDuration(text);
  return validDate(durationMs === undefined ? text : now + durationMs);
}

const unitMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** Milliseconds; undefined if the text is not a sequence of numbers and units. */
function parseResetDuration(text: string): number | undefined {
  const parts = [...text.matchAll(/([\d.]+)(ms|s|m|h|d)/g)];
  const isWhole = parts.map(([part]) => part).join('') === text;
  if (parts.length === 0 || !isWhole) return undefined;
  return parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * (unitMs[unit] ?? 0), 0);
}

function validDate(moment: number | string): Date | undefined {
  const date = new Date(moment);
  return Number.isNaN(date.getTime()) ? undefined : date;
}
