import { randomUUID } from 'node:crypto';
import type { UserError } from '../../lib/error.ts';
import { sha256 } from '../../lib/hash.ts';
import type { SharedCounters } from '../../store/shared/shared-counters.ts';
import { bytesPerMegabyte, dayUsedUp } from './day-usage.ts';
import {
  type CallerLimits,
  type OpenLimits,
  rateLimited,
  requestsPerCall,
  tooManyQueries,
} from './limits.ts';

const minute = 60_000;

/** Milliseconds after which a query that nobody ended no longer counts: its server was killed. */
const longestQuery = 10 * 60_000;

/** Counts what one caller asks of all servers together. */
export function openSharedLimits(
  counters: SharedCounters,
  limits: CallerLimits,
  caller: string,
): OpenLimits {
  const { requestsPerMinute, concurrentQueries, queriesPerDay, megabytesPerDay } = limits;
  // The database names no people here.
  const name = sha256(caller).slice(0, 32);
  const take = async (what: string, perMinute: number): Promise<number> => {
    const size = { intervalMs: minute / perMinute, wholeMs: minute };
    return Math.ceil((await counters.takeFromBucket(`${what} ${name}`, size)) / 1000);
  };
  const hasDay = queriesPerDay !== undefined || megabytesPerDay !== undefined;
  const mostBytes = megabytesPerDay === undefined ? null : megabytesPerDay * bytesPerMegabyte;
  const takeOfDay = async (): Promise<UserError | undefined> => {
    if (!hasDay) return undefined;
    const day = today();
    const share = { queries: queriesPerDay ?? null, bytes: mostBytes };
    if (await counters.takeOfDay(day, name, share)) return undefined;
    return dayUsedUp(limits, await counters.queriesOfDay(day, name), new Date());
  };
  const running: { readonly slot: number; readonly holder: string }[] = [];
  const free = async (): Promise<void> => {
    const held = running.pop();
    if (held !== undefined) await counters.freeSlot(name, held.slot, held.holder);
  };
  return {
    takeRequest: () => take('requests', requestsPerMinute * requestsPerCall),
    async takeCall() {
      const wait = await take('calls', requestsPerMinute);
      return wait === 0 ? undefined : rateLimited(requestsPerMinute, wait);
    },
    async startQuery() {
      const holder = randomUUID();
      const wanted = { most: concurrentQueries, leaseMs: longestQuery, holder };
      const slot = await counters.takeSlot(name, wanted);
      if (slot === undefined) return tooManyQueries(concurrentQueries);
      running.push({ slot, holder });
      const error = await takeOfDay();
      if (error !== undefined) await free();
      return error;
    },
    async endQuery(bytes) {
      await free();
      if (hasDay) await counters.addToDay(today(), name, bytes);
    },
  };
}

function today(): string {
  return new Date().toISOString().slice(0, 10);
}
