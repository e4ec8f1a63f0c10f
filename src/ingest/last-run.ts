import { z } from 'zod';
import type { State } from '../store/state.ts';
import type { IngestReport, Quarantined, UnusedFact } from './report.ts';

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
  goneEdits: z.array(z.object({ path: z.string(), at: z.string() })).default([]),
});

/** What the last run left out of the artifacts, and why. */
export interface LeftOut {
  readonly quarantined: readonly Quarantined[];
  readonly unfit: readonly UnusedFact[];
  /** People's edits of what the claims no longer have, and the file of each. */
  readonly goneEdits: IngestReport['stale'];
}

/** Saves what the run left out in `.ktx`, so that it can be shown without another run. */
export function saveLeftOut({ db }: State, { quarantined, unfit, goneEdits }: LeftOut): void {
  createLeftOutTable(db);
  db.prepare('INSERT OR REPLACE INTO left_out VALUES (1, ?)').run(
    JSON.stringify({ quarantined, unfit, goneEdits }),
  );
}

/** Undefined if there was no run yet, as in a fresh clone. */
export function loadLeftOut({ db }: State): LeftOut | undefined {
  createLeftOutTable(db);
  const row = db.prepare('SELECT found FROM left_out').get();
  return row && leftOutSchema.parse(JSON.parse(String(row['found'])));
}

function createLeftOutTable(db: State['db']): void {
  db.exec('CREATE TABLE IF NOT EXISTS left_out (id INTEGER PRIMARY KEY, found TEXT NOT NULL)');
}
