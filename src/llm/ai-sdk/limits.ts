import type { LimitReport } from '../port/backend.ts';

export type ResponseHeaders = Readonly<Record<string, string | undefined>>;

/** A limit counts as near if at most this share of it is left. */
const nearShare = 0.1;

interface WindowHeaders {
  limit?: string;
  remaining?: string;
  reset?: string;
}

/** Reads the state of each limit from response headers such as `anthropic-ratelimit-tokens-remaining`. */
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

/** The limit that a refused request exceeded, with the time to try again: `retry-after`, else the reset of the limit. */
export function exceededLimit(headers: ResponseHeaders | undefined, now = Date.now()): LimitReport {
  const [fullest] = limitsFromHeaders(headers, now).toSorted(
    (a, b) => (b.utilization ?? 0) - (a.utilization ?? 0),
  );
  const exceeded = fullest?.state === 'near' ? fullest : undefined;
  return {
    window: exceeded?.window ?? 'rate',
    state: 'closed',
    utilization: 1,
    resetsAt: retryAfter(headers, now) ?? exceeded?.resetsAt,
  };
}

/** True if the provider asks for a pause short enough that the SDK waits within the call. */
export function isShortPause(headers: ResponseHeaders | undefined, now = Date.now()): boolean {
  const until = retryAfter(headers, now);
  return until !== undefined && until.getTime() - now < 60_000;
}

function retryAfter(headers: ResponseHeaders | undefined, now: number): Date | undefined {
  const milliseconds = headers?.['retry-after-ms'];
  return parseMoment(
    milliseconds === undefined ? headers?.['retry-after'] : `${milliseconds}ms`,
    now,
  );
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

/** Parses a header's time: seconds from now, a duration such as `6m0s` or `20ms`, or a date. */
function parseMoment(text: string | undefined, now: number): Date | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  if (Number.isFinite(Number(text))) return validDate(now + Number(text) * 1000);
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
