import { chainTables, openSharedChain, type SharedChain } from './shared-chain.ts';
import { budgetTables, openSharedBudgets } from './shared-budgets.ts';
import { counterTables, openSharedCounters, type SharedCounters } from './shared-counters.ts';
import { openPostgresState } from './postgres-state.ts';
import { openSharedRecords, recordTables, type SharedRecords } from './shared-records.ts';
import { openSharedResults, resultTables, type SharedResults } from './shared-results.ts';
import { openSqliteState } from './sqlite-state.ts';
import type { StateDatabase } from './state-database.ts';

/** What several servers of one project share; with SQLite, those of one machine. */
export interface SharedState {
  readonly records: SharedRecords;
  readonly counters: SharedCounters;
  readonly chain: SharedChain;
  readonly results: SharedResults;
  readonly budget: ReturnType<typeof openSharedBudgets>;
  close(): Promise<void>;
}

/** A file, or the URL of a Postgres database that belongs to one project. */
export type StatePlace =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'postgres'; readonly url: string };

/** Any number: a key of Postgres's advisory locks, for the time in which tables are created. */
const creationLock = 7_263_549_001;

/** Opens the state, and creates its tables. */
export async function openSharedState(place: StatePlace): Promise<SharedState> {
  const db =
    place.kind === 'file' ? openSqliteState(place.path) : await openPostgresState(place.url);
  try {
    await createTables(db, place.kind);
  } catch (error) {
    await db.close();
    throw error;
  }
  return {
    records: openSharedRecords(db),
    counters: openSharedCounters(db),
    chain: openSharedChain(db),
    results: openSharedResults(db),
    budget: openSharedBudgets(db),
    close: () => db.close(),
  };
}

/** In Postgres under a lock: two servers that create a table at once would fail. */
async function createTables(db: StateDatabase, kind: StatePlace['kind']): Promise<void> {
  const statements = [
    ...recordTables,
    ...counterTables,
    ...chainTables,
    ...resultTables,
    ...budgetTables,
  ];
  if (kind === 'file') {
    for (const sql of statements) await db.run(sql);
    return;
  }
  const create = statements.map((sql) => `EXECUTE '${sql.replaceAll("'", "''")}';`).join('\n');
  await db.run(`DO $do$ BEGIN PERFORM pg_advisory_xact_lock(${creationLock}); ${create} END $do$`);
}
