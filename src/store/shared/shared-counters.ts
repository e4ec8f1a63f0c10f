import type { StateDatabase } from './state-database.ts';

/** Counts that several servers share. Each call is one statement, so that none is lost. */
export type SharedCounters = ReturnType<typeof openSharedCounters>;

export const counterTables = [
  'CREATE TABLE IF NOT EXISTS ktx_buckets (name TEXT PRIMARY KEY, full_at DOUBLE PRECISION NOT NULL)',
  `CREATE TABLE IF NOT EXISTS ktx_days (
    day TEXT NOT NULL, name TEXT NOT NULL, queries BIGINT NOT NULL, bytes BIGINT NOT NULL,
    PRIMARY KEY (day, name))`,
  `CREATE TABLE IF NOT EXISTS ktx_slots (
    name TEXT NOT NULL, slot BIGINT NOT NULL, holder TEXT NOT NULL, expires BIGINT NOT NULL,
    PRIMARY KEY (name, slot))`,
];

const number = (index: number) => `CAST($${index} AS DOUBLE PRECISION)`;
const later = `CASE WHEN ktx_buckets.full_at > ${number(2)} THEN ktx_buckets.full_at ELSE ${number(2)} END`;
const takeFromBucket = `INSERT INTO ktx_buckets (name, full_at) VALUES ($1, ${number(2)} + ${number(3)})
  ON CONFLICT (name) DO UPDATE SET full_at = ${later} + ${number(3)}
  WHERE ${later} + ${number(3)} - ${number(2)} <= ${number(4)} RETURNING full_at`;

const most = (index: number, column: string) =>
  `(CAST($${index} AS BIGINT) IS NULL OR ktx_days.${column} < CAST($${index} AS BIGINT))`;
const takeOfDay = `INSERT INTO ktx_days (day, name, queries, bytes) VALUES ($1, $2, 1, 0)
  ON CONFLICT (day, name) DO UPDATE SET queries = ktx_days.queries + 1
  WHERE ${most(3, 'queries')} AND ${most(4, 'bytes')} RETURNING queries`;
const addToDay =
  'UPDATE ktx_days SET bytes = bytes + CAST($3 AS BIGINT) WHERE day = $1 AND name = $2';

const takeSlot = `INSERT INTO ktx_slots (name, slot, holder, expires) VALUES ($1, $2, $3, $4)
  ON CONFLICT (name, slot) DO UPDATE SET holder = excluded.holder, expires = excluded.expires
  WHERE ktx_slots.expires <= $5 RETURNING slot`;
const keepSlot = `UPDATE ktx_slots SET expires = $4 WHERE name = $1 AND slot = $2 AND holder = $3
  RETURNING slot`;
const freeSlot = 'DELETE FROM ktx_slots WHERE name = $1 AND slot = $2 AND holder = $3';

/** What a caller has of a day; null: as much as they like. */
interface DayShare {
  readonly queries: number | null;
  readonly bytes: number | null;
}

interface BucketSize {
  /** Milliseconds until one is there again. */
  readonly intervalMs: number;
  /** Milliseconds in which an empty bucket is full again. */
  readonly wholeMs: number;
}

interface SlotsWanted {
  readonly most: number;
  /** Milliseconds after which a slot is free though nobody freed it: its server was killed. */
  readonly leaseMs: number;
  /** Who holds it: of all takers, this one alone. */
  readonly holder: string;
}

/** Milliseconds after which a count says nothing more: a bucket is full, and a day is over. */
const longestCount = 3 * 86_400_000;
const cleanupInterval = 3_600_000;

export function openSharedCounters(db: StateDatabase, now: () => number = () => Date.now()) {
  let nextCleanup = 0;
  const cleanUp = async (): Promise<void> => {
    if (now() < nextCleanup) return;
    nextCleanup = now() + cleanupInterval;
    const before = now() - longestCount;
    const day = new Date(before).toISOString().slice(0, 10);
    await db.run('DELETE FROM ktx_buckets WHERE full_at < $1', [before]);
    await db.run('DELETE FROM ktx_days WHERE day < $1', [day]);
    await db.run('DELETE FROM ktx_slots WHERE expires < $1', [before]);
  };
  return {
    /**
     * Takes one of a bucket that is full at first. 0, or milliseconds to wait if it is empty: at
     * most an interval, since clocks of servers differ.
     */
    async takeFromBucket(name: string, { intervalMs, wholeMs }: BucketSize): Promise<number> {
      await cleanUp();
      const at = now();
      const taken = await db.run(takeFromBucket, [name, at, intervalMs, wholeMs]);
      if (taken.length > 0) return 0;
      const [row] = await db.run('SELECT full_at FROM ktx_buckets WHERE name = $1', [name]);
      const wait = Number(row?.['full_at'] ?? at) + intervalMs - at - wholeMs;
      return Math.min(intervalMs, Math.max(1, wait));
    },
    /** Takes a query of a day (`2026-11-29`). False if the share is used up. */
    takeOfDay: async (day: string, name: string, { queries, bytes }: DayShare): Promise<boolean> =>
      (await db.run(takeOfDay, [day, name, queries, bytes])).length > 0,
    addToDay: async (day: string, name: string, bytes: number): Promise<void> =>
      void (await db.run(addToDay, [day, name, bytes])),
    queriesOfDay: async (day: string, name: string): Promise<number> => {
      const sql = 'SELECT queries FROM ktx_days WHERE day = $1 AND name = $2';
      return Number((await db.run(sql, [day, name]))[0]?.['queries'] ?? 0);
    },
    /** Takes a free slot until `freeSlot`; undefined if there is none. */
    async takeSlot(name: string, wanted: SlotsWanted): Promise<number | undefined> {
      const { most: count, leaseMs, holder } = wanted;
      for (let slot = 0; slot < count; slot += 1) {
        const at = now();
        const taken = await db.run(takeSlot, [name, slot, holder, at + leaseMs, at]);
        if (taken.length > 0) return slot;
      }
      return undefined;
    },
    /** Extends the lease. False if the slot was lost meanwhile. */
    keepSlot: async (name: string, slot: number, { holder, leaseMs }: SlotsWanted) =>
      (await db.run(keepSlot, [name, slot, holder, now() + leaseMs])).length > 0,
    freeSlot: async (name: string, slot: number, holder: string): Promise<void> =>
      void (await db.run(freeSlot, [name, slot, holder])),
  };
}
