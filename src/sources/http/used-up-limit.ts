import { askedPause } from '../../http/retry-pause.ts';
import type { RawAnswer } from '../../http/send-once.ts';

/**
 * In seconds, for an answer that says that a limit is used up: with 429, or as GitHub does with
 * 403. Undefined for any other answer.
 */
export function limitedFor({ status, headers }: RawAnswer): number | undefined {
  if (status !== 403 && status !== 429) return undefined;
  const asked = askedPause(headers['retry-after']);
  if (asked !== undefined) return Math.ceil(asked / 1000);
  const [left, reset] = ['x-ratelimit-remaining', 'x-ratelimit-reset'].map((name) => headers[name]);
  if (left !== '0') return undefined;
  return Math.max(1, Math.ceil(Number(reset) - Date.now() / 1000) || 60);
}
