/** Answers that another try may change. */
const passing = new Set([429, 502, 503, 504, 529]);

export function isPassing(status: number): boolean {
  return passing.has(status);
}

/** In milliseconds, where the server does not say how long. */
export const longestPause = 60_000;
const firstPause = 500;

/** A random part of a time that doubles, in milliseconds: before the try after `tries`. */
export function backOff(tries: number): number {
  return Math.min(longestPause, firstPause * 2 ** (tries - 1)) * Math.random();
}

/** The wait that a server asks for in `Retry-After`, in seconds or as a date, in milliseconds. */
export function askedPause(retryAfter: string | undefined): number | undefined {
  if (retryAfter === undefined) return undefined;
  const seconds = Number(retryAfter);
  const wait = Number.isNaN(seconds) ? Date.parse(retryAfter) - Date.now() : seconds * 1000;
  return Number.isNaN(wait) ? undefined : Math.max(0, wait);
}
