import { z } from 'zod';
import type { State } from '../store/state.ts';
import type { Quarantined, UnusedFact } from './report.ts';

const leftOutSchema = z.object({
  quarantined: z.array(
    z.object({
      subject: z.string(),
      kind: z.string(),
      reason: z.string(),
      location: z.string().optional(),
    }),
  ),
  unfit: z.array(z.object({ item: z.string(), location: z.string(), reason: z.string() })),
});

/** What the last run kept out of the artifacts, and why. */
export interface LeftOut {
  readonly quarantined: readonly Quarantined[];
  readonly unfit: readonly UnusedFact[];
}

/** In `.ktx`: whoever asks later need not run everything again. */
export function saveLeftOut({ db }: State, { quarantined, unfit }: LeftOut): void {
  ensureTable(db);
  db.prepare('INSERT OR REPLACE INTO left_out VALUES (1, ?)').run(
    JSON.stringify({ quarantined, unfit }),
  );
}

/** Undefined where no run was here yet, as in a fresh clone. */
export function loadLeftOut({ db }: State): LeftOut | undefined {
  ensureTable(db);
  const row = db.prepare('SELECT found FROM left_out').get();
  return row && leftOutSchema.parse(JSON.parse(String(row['found'])));
}

function ensureTable(db: State['db']): void {
  db.exec('CREATE TABLE IF NOT EXISTS left_out (id INTEGER PRIMARY KEY, found TEXT NOT NULL)');
}
