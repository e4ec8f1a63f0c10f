/** Answers that another try may change. */
const passing = new Set([429, 502, 503, 504, 529]);

export function isPassing(status: number): boolean {
  return passing.has(status);
}

/** In milliseconds. A longer wait is not worth it: the next run goes on. */
export const longestPause = 60_000;
const firstPause = 500;

/**
 * How long to wait before the try after `tries`, in milliseconds: what the server asks for, in
 * seconds or as a date; else a random part of a time that doubles.
 */
export function retryPause(tries: number, retryAfter: string | undefined): number {
  const asked = retryAfter === undefined ? Number.NaN : askedPause(retryAfter);
  if (!Number.isNaN(asked)) return Math.max(0, asked);
  return Math.min(longestPause, firstPause * 2 ** (tries - 1)) * Math.random();
}

function askedPause(retryAfter: string): number {
  const seconds = Number(retryAfter);
  return Number.isNaN(seconds) ? Date.parse(retryAfter) - Date.now() : seconds * 1000;
}
