import type { DatabaseSync } from 'node:sqlite';
import { formatByteSize } from '../../lib/byte-size.ts';
import { UserError } from '../../lib/error.ts';
import { sha256 } from '../../lib/hash.ts';
import { usdOfBytes, type SpendingAccount, type SpentAmount } from '../../warehouse/spending.ts';

/** What the statements of one caller may read in a day (UTC). Undefined: as much as they like. */
export interface DaySpendingLimits {
  readonly bytesReadPerDay?: number | undefined;
  readonly usdPerDay?: number | undefined;
}

const createTable = `CREATE TABLE IF NOT EXISTS spent_days (
  day TEXT NOT NULL, caller TEXT NOT NULL, bytes INTEGER NOT NULL, usd REAL NOT NULL,
  PRIMARY KEY (day, caller)) STRICT`;
const openDay = 'INSERT OR IGNORE INTO spent_days VALUES (?, ?, 0, 0)';
/** One statement, because several servers may serve the project. */
const takeAhead = `UPDATE spent_days SET bytes = bytes + ?3, usd = usd + ?4
  WHERE day = ?1 AND caller = ?2 AND (?5 IS NULL OR (bytes < ?5 AND bytes + ?3 <= ?5))
    AND (?6 IS NULL OR (usd < ?6 AND usd + ?4 <= ?6))`;
const correct = `UPDATE spent_days SET bytes = max(0, bytes + ?3), usd = max(0, usd + ?4)
  WHERE day = ?1 AND caller = ?2`;
const selectSpent = 'SELECT bytes, usd FROM spent_days WHERE day = ?1 AND caller = ?2';

/**
 * What callers spend by day, in the journal: neither a restart nor another server on the same
 * project gives anybody a second day. An estimate is taken before a statement runs, so that
 * statements at the same time share what is left.
 */
export function openDaySpending(
  openDatabase: () => DatabaseSync,
  limits: DaySpendingLimits,
  now: () => Date = () => new Date(),
): (caller: string) => SpendingAccount | undefined {
  const { bytesReadPerDay, usdPerDay } = limits;
  if (bytesReadPerDay === undefined && usdPerDay === undefined) return () => undefined;
  const db = openDatabase();
  db.exec(createTable);
  const statements = {
    open: db.prepare(openDay),
    take: db.prepare(takeAhead),
    correct: db.prepare(correct),
    spent: db.prepare(selectSpent),
  };
  return (caller) => {
    // The journal names no people.
    const id = sha256(caller).slice(0, 32);
    return {
      reserve(bytes, usdPerTib) {
        const day = now().toISOString().slice(0, 10);
        const ahead = { bytes: bytes ?? 0, usd: usdOfBytes(bytes ?? 0, usdPerTib) };
        statements.open.run(day, id);
        const most = [bytesReadPerDay ?? null, usdPerDay ?? null] as const;
        const { changes } = statements.take.run(day, id, ahead.bytes, ahead.usd, ...most);
        const row = statements.spent.get(day, id) ?? {};
        const spent = { bytes: Number(row['bytes']), usd: Number(row['usd']) };
        const state = { limits, spent, ahead };
        if (changes === 0) throw usedUp(state, now());
        return {
          mostBytes: mostBytes(state, usdPerTib),
          settle(read) {
            const more = read - ahead.bytes;
            statements.correct.run(day, id, more, usdOfBytes(read, usdPerTib) - ahead.usd);
          },
        };
      },
    };
  };
}

interface DayState {
  readonly limits: DaySpendingLimits;
  readonly spent: SpentAmount;
  /** What the statement would need. */
  readonly ahead: SpentAmount;
}

/** What a statement may read: what it reserved, and what is left beside that. */
function mostBytes({ limits, spent, ahead }: DayState, usdPerTib: number | undefined): number {
  const { bytesReadPerDay = Infinity, usdPerDay } = limits;
  const ofBytes = bytesReadPerDay - spent.bytes + ahead.bytes;
  if (usdPerDay === undefined || usdPerTib === undefined) return ofBytes;
  const left = usdPerDay - spent.usd + ahead.usd;
  return Math.min(ofBytes, Math.floor((left / usdPerTib) * 2 ** 40));
}

function usedUp({ limits, spent, ahead }: DayState, now: Date): UserError {
  const { bytesReadPerDay = 0, usdPerDay } = limits;
  const next = new Date(now);
  next.setUTCHours(24, 0, 0, 0);
  const isMoney = usdPerDay !== undefined && spent.usd + ahead.usd >= usdPerDay;
  const [limit, used, wanted] = isMoney
    ? [usdPerDay, spent.usd, ahead.usd].map((usd) => `$${usd.toFixed(2)}`)
    : [bytesReadPerDay, spent.bytes, ahead.bytes].map(formatByteSize);
  const isUnknown = ahead.bytes === 0;
  const message = isUnknown
    ? `This token may read ${limit} of the warehouse a day, and has read ${used}.`
    : `Not run: the query would read ${wanted}; of ${limit} a day this token has used ${used}.`;
  const narrow = isUnknown ? '' : 'Narrow the query (a time, fewer columns), or wait: ';
  return new UserError('day_used_up', message, {
    hint: `${narrow}the next day begins at ${next.toISOString()}. Searching and reading definitions goes on; whoever runs the server can raise the limit.`,
  });
}
