import type { DatabaseSync } from 'node:sqlite';
import { UserError } from '../../lib/error.ts';
import { sha256 } from '../../lib/hash.ts';

/** What one caller may use in a day (UTC). Undefined: as much as they like. */
export interface DayLimits {
  readonly queriesPerDay?: number | undefined;
  /** Of the answers to queries. A megabyte is a million bytes. */
  readonly megabytesPerDay?: number | undefined;
}

/** What one caller uses of a day. */
export interface DayUsage {
  /** Takes a query; the error is for the model if the day is used up. */
  takeQuery(): UserError | undefined;
  /** Adds an answer. It may exceed the limit; the next query is then refused. */
  addBytes(bytes: number): void;
}

const createTable = `CREATE TABLE IF NOT EXISTS served_days (
  day TEXT NOT NULL, caller TEXT NOT NULL, queries INTEGER NOT NULL, bytes INTEGER NOT NULL,
  PRIMARY KEY (day, caller)) STRICT`;

/** One statement, because several servers may serve the project. */
const takeQuery = `INSERT INTO served_days VALUES (?1, ?2, 1, 0)
  ON CONFLICT (day, caller) DO UPDATE SET queries = queries + 1
  WHERE (?3 IS NULL OR queries < ?3) AND (?4 IS NULL OR bytes < ?4)`;
const addBytes = 'UPDATE served_days SET bytes = bytes + ?3 WHERE day = ?1 AND caller = ?2';
const selectQueries = 'SELECT queries FROM served_days WHERE day = ?1 AND caller = ?2';

export const bytesPerMegabyte = 1_000_000;
const unlimited: DayUsage = { takeQuery: () => undefined, addBytes: () => undefined };

/**
 * The usage of callers by day, in the journal: neither a restart nor another server on the same
 * project gives anybody a second day.
 */
export function openDayUsage(
  openDatabase: () => DatabaseSync,
  { queriesPerDay, megabytesPerDay }: DayLimits,
  now: () => Date = () => new Date(),
): (caller: string) => DayUsage {
  if (queriesPerDay === undefined && megabytesPerDay === undefined) return () => unlimited;
  const db = openDatabase();
  db.exec(createTable);
  const statements = {
    take: db.prepare(takeQuery),
    add: db.prepare(addBytes),
    queries: db.prepare(selectQueries),
  };
  const mostBytes = megabytesPerDay === undefined ? null : megabytesPerDay * bytesPerMegabyte;
  return (caller) => {
    // The journal names no people.
    const id = sha256(caller).slice(0, 32);
    const today = (): string => now().toISOString().slice(0, 10);
    return {
      takeQuery() {
        const day = today();
        const { changes } = statements.take.run(day, id, queriesPerDay ?? null, mostBytes);
        if (changes !== 0) return undefined;
        const used = Number(statements.queries.get(day, id)?.['queries']);
        return dayUsedUp({ queriesPerDay, megabytesPerDay }, used, now());
      },
      addBytes: (bytes) => void statements.add.run(today(), id, bytes),
    };
  };
}

/** For a model whose caller had as many queries, or all answers of the day. */
export function dayUsedUp(
  { queriesPerDay, megabytesPerDay }: DayLimits,
  queries: number,
  now: Date,
): UserError {
  const isCount = queriesPerDay !== undefined && queries >= queriesPerDay;
  const what = isCount ? `${queriesPerDay} queries` : `${megabytesPerDay} MB of answers`;
  const next = new Date(now);
  next.setUTCHours(24, 0, 0, 0);
  const hours = Math.ceil((next.getTime() - now.getTime()) / 3_600_000);
  const message = `This token may have ${what} a day, and had them.`;
  const hint = `It may query again at ${next.toISOString()}, in at most ${hours} h. Until then use what was answered already, and tell the user; whoever runs the server can raise the limit.`;
  return new UserError('day_used_up', message, { hint });
}
