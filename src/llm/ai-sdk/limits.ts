import type { LimitReport } from '../port/backend.ts';

export type Headers = Readonly<Record<string, string | undefined>>;

/** What is left below this share of a window counts as near its end. */
const nearShare = 0.1;

interface Window {
  limit?: string;
  remaining?: string;
  reset?: string;
}

/** What the headers of a response say of each window: `anthropic-ratelimit-tokens-remaining`, `x-ratelimit-remaining-tokens`… */
export function limitsOf(headers: Headers | undefined, now = Date.now()): readonly LimitReport[] {
  return [...windowsOf(headers ?? {})].flatMap(([window, { limit, remaining, reset }]) => {
    const [whole, left] = [Number(limit), Number(remaining)];
    if (limit === undefined || remaining === undefined || !(whole > 0) || !(left >= 0)) return [];
    const share = Math.min(1, left / whole);
    return [
      {
        window,
        state: share <= nearShare ? 'near' : 'open',
        utilization: 1 - share,
        resetsAt: momentOf(reset, now),
      } as const,
    ];
  });
}

/** The window that a refusal is about, where one is used up, and when to come back: `retry-after` first, else the window's reset. */
export function refusedLimit(headers: Headers | undefined, now = Date.now()): LimitReport {
  const [used] = limitsOf(headers, now).toSorted(
    (a, b) => (b.utilization ?? 0) - (a.utilization ?? 0),
  );
  const known = used?.state === 'near' ? used : undefined;
  return {
    window: known?.window ?? 'rate',
    state: 'closed',
    utilization: 1,
    resetsAt: retryAfter(headers, now) ?? known?.resetsAt,
  };
}

/** True where the provider asks for a pause that the SDK makes by itself, within the call. */
export function isShortPause(headers: Headers | undefined, now = Date.now()): boolean {
  const until = retryAfter(headers, now);
  return until !== undefined && until.getTime() - now < 60_000;
}

function retryAfter(headers: Headers | undefined, now: number): Date | undefined {
  const milliseconds = headers?.['retry-after-ms'];
  return momentOf(milliseconds === undefined ? headers?.['retry-after'] : `${milliseconds}ms`, now);
}

function windowsOf(headers: Headers): ReadonlyMap<string, Window> {
  const windows = new Map<string, Window>();
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

/** Headers write a moment as seconds from now, as `6m0s` or `20ms` from now, or as a date. */
function momentOf(text: string | undefined, now: number): Date | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  if (Number.isFinite(Number(text))) return dateOf(now + Number(text) * 1000);
  const scale: Readonly<Record<string, number>> = {
    ms: 1,
    s: 1000,
    m: 60_000,
    h: 3_600_000,
    d: 86_400_000,
  };
  const parts = [...text.matchAll(/([\d.]+)(ms|s|m|h|d)/g)];
  if (parts.length > 0 && parts.map(([part]) => part).join('') === text) {
    return dateOf(
      now +
        parts.reduce((sum, [, count, unit]) => sum + Number(count) * (scale[unit ?? ''] ?? 0), 0),
    );
  }
  return dateOf(text);
}

function dateOf(moment: number | string): Date | undefined {
  const date = new Date(moment);
  return Number.isNaN(date.getTime()) ? undefined : date;
}
