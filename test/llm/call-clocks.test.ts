import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { CallClocks } from '../../src/llm/governor/call-clocks.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

test('time spent waiting for a person does not count', () => {
  const expired: string[] = [];
  const clocks = new CallClocks(
    { idle_seconds: 3600, call_seconds: 10, callLimit: 'limits.timeout' },
    ({ message }) => expired.push(message),
  );
  clocks.start();
  vi.advanceTimersByTime(6000);
  clocks.freeze();
  vi.advanceTimersByTime(60_000);
  clocks.freeze();
  clocks.thaw();
  vi.advanceTimersByTime(60_000);
  expect(expired).toEqual([]);
  clocks.thaw();
  vi.advanceTimersByTime(3900);
  expect(expired).toEqual([]);
  vi.advanceTimersByTime(200);
  expect(expired).toEqual(['The call took longer than 10 s (limits.timeout).']);
  clocks.stop();
});

test('a running tool stops the idle clock, not the clock of the whole call', () => {
  const expired: string[] = [];
  const clocks = new CallClocks({ idle_seconds: 1, call_seconds: 10 }, ({ message }) =>
    expired.push(message),
  );
  clocks.start();
  clocks.holdIdle();
  vi.advanceTimersByTime(8000);
  expect(expired).toEqual([]);
  clocks.releaseIdle();
  vi.advanceTimersByTime(900);
  expect(expired).toEqual([]);
  vi.advanceTimersByTime(200);
  expect(expired).toEqual([expect.stringContaining('idle_seconds')]);
  clocks.stop();
});
