import { shortHash } from '../../lib/hash.ts';
import { canonicalJson } from '../../lib/json.ts';
import { tableKey } from '../../sql/dialect.ts';
import type { TableSchema } from '../../warehouse/warehouse.ts';
import { milliseconds, type ScanConfig, timeLimitOf } from '../config.ts';
import type { ScanContext } from '../scan-context.ts';
import type { StoredProfile } from '../scan-store.ts';
import { type BudgetTracker, openBudget, type ScanBudget } from './budget.ts';
import { columnPolicy, profileUnder } from './column-policy.ts';
import { profileTable, profileTableOnce, unreadProfile } from './profile-table.ts';
import type { TableProfile } from './table-profile.ts';

export interface ProfiledTable {
  readonly schema: TableSchema;
  readonly profile: TableProfile;
  /**
   * Changes with what was read of the table: equal versions have equal measurements. Empty if
   * nothing was ever read.
   */
  readonly version: string;
  /** `left`: the budget ran out before the table's turn; the profile is an earlier one or empty. */
  readonly outcome: 'reused' | 'profiled' | 'left';
  /** Until when a table of the same marker counts as unchanged, in milliseconds since 1970. */
  readonly freshUntil: number;
}

/** True if no scan had the budget for the table yet, or if it cannot be read. */
export const isUnread = ({
  version,
  profile,
}: Pick<ProfiledTable, 'version' | 'profile'>): boolean =>
  version === '' || profile.note !== undefined;

interface ProfilingContext extends ScanContext {
  readonly budget: ScanBudget;
  /** Called with the tables to profile, in their order, before the first of them is read. */
  readonly onDue: (due: readonly TableSchema[]) => void;
  readonly onProfile: (progress: {
    readonly done: number;
    readonly total: number;
    readonly table: string;
  }) => void;
}

interface ProfileTask {
  readonly schema: TableSchema;
  readonly key: string;
  /**
   * Changes with the structure, the engine's change marker and the way of profiling, but not with
   * the row estimate.
   */
  readonly hash: string;
  readonly stored: StoredProfile | undefined;
  /** True if the stored profile is still valid. */
  readonly reused: boolean;
}

/**
 * Returns a profile for each table, in the given order: the stored one, or a new one if the table
 * has changed. New profiles are stored within a second, so that the next scan resumes a scan that
 * was killed or spent its budget. Views come after tables, and what could not be read last time
 * comes last.
 */
export async function profileTables(
  tables: readonly TableSchema[],
  context: ProfilingContext,
): Promise<ProfiledTable[]> {
  const { tasks, pending } = planTasks(tables, context);
  context.onDue(pending.map(({ schema }) => schema));
  const budget = openBudget(context.budget, context.config);
  const fresh = new Map<ProfileTask, StoredProfile>();
  const saver = openSaver(context.store);
  try {
    for (const [done, task] of pending.entries()) {
      const profile = await profileWithinBudget(task.schema, budget, context);
      if (profile === undefined) break;
      const stored = { hash: task.hash, at: Date.now(), profile };
      saver.add(task.key, stored);
      fresh.set(task, stored);
      context.onProfile({ done: done + 1, total: pending.length, table: task.schema.table });
    }
  } finally {
    saver.flush();
  }
  return tasks.map((task) => profiledTable(task, fresh.get(task), context.config));
}

/** In milliseconds. A transaction for each small table costs more than to read the table. */
const longestUnsaved = 300;

/** Saves profiles a few at a time. */
function openSaver(store: ScanContext['store']) {
  const unsaved = new Map<string, StoredProfile>();
  let savedAt = 0;
  const flush = (): void => {
    if (unsaved.size > 0) store.saveProfiles(unsaved);
    unsaved.clear();
    savedAt = performance.now();
  };
  return {
    add(table: string, profile: StoredProfile): void {
      unsaved.set(table, profile);
      if (performance.now() - savedAt > longestUnsaved) flush();
    },
    flush,
  };
}

type PlanningContext = Pick<ProfilingContext, 'warehouse' | 'store' | 'config' | 'labels'>;

/** Which tables a scan would read, in its order (`due`), among all. */
export function planProfiles(tables: readonly TableSchema[], context: PlanningContext) {
  return { tables, due: planTasks(tables, context).pending.map(({ schema }) => schema) };
}

function planTasks(tables: readonly TableSchema[], context: PlanningContext) {
  const tasks = tables.map((schema) => planTask(schema, context));
  const due = tasks.filter(({ reused }) => !reused);
  return { tasks, pending: due.toSorted((a, b) => turnOf(a) - turnOf(b)) };
}

function turnOf({ stored, hash, schema }: ProfileTask): number {
  const hasFailed = stored?.hash === hash && stored.profile.note !== undefined;
  if (hasFailed) return 2;
  return schema.kind === 'view' ? 1 : 0;
}

/** Raise it when profiles are measured or stored in another way. */
const profileVersion = 9;

function planTask(schema: TableSchema, context: PlanningContext): ProfileTask {
  const { config } = context;
  const structure = { ...schema, rowEstimate: undefined, bytes: undefined };
  const hash = shortHash(
    canonicalJson([profileVersion, structure, config.sample_rows, config.table_bytes]),
    32,
  );
  const key = tableKey(schema);
  const { stored, isComplete } = loadUnderPolicy(schema, key, context);
  // Without a change marker a profile is reused for a limited time.
  const isFresh =
    schema.marker !== undefined || Date.now() - (stored?.at ?? 0) < milliseconds(config.max_age);
  // A view that took too long is not computed again in every scan.
  const isRead = stored?.profile.note === undefined || schema.kind === 'view';
  const reused = stored?.hash === hash && isRead && isFresh && isComplete;
  return { schema, key, hash, stored, reused };
}

/**
 * The stored profile as people want it now: what they no longer allow is deleted at once, without
 * reading the table.
 */
function loadUnderPolicy(
  schema: TableSchema,
  key: string,
  { store, config, labels, warehouse: { connection } }: PlanningContext,
) {
  const stored = store.profile(key);
  if (stored === undefined) return { stored, isComplete: false };
  const source = { settings: config, labels, connection };
  const { profile, isComplete, isStricter } = profileUnder(stored.profile, (column) =>
    columnPolicy(source, schema, column),
  );
  const current = { ...stored, profile };
  if (isStricter) store.saveProfiles([[key, current]]);
  return { stored: current, isComplete };
}

function profiledTable(
  { schema, stored, reused }: ProfileTask,
  fresh: StoredProfile | undefined,
  config: ScanConfig,
): ProfiledTable {
  const current = fresh ?? (reused ? stored : undefined);
  if (current !== undefined) {
    // Without a marker, equal hashes do not mean equal rows: the time becomes part of the version.
    const hasMarker = schema.marker !== undefined && current.profile.note === undefined;
    const version = hasMarker ? current.hash : `${current.hash}@${current.at}`;
    const outcome = fresh === undefined ? 'reused' : 'profiled';
    const freshUntil = freshUntilOf(schema, current, config);
    return { schema, profile: current.profile, version, outcome, freshUntil };
  }
  const empty = unreadProfile(schema.columns, undefined);
  if (stored === undefined || stored.profile.note !== undefined)
    return { schema, profile: empty, version: '', outcome: 'left', freshUntil: 0 };
  const earlier = new Map(stored.profile.columns.map((column) => [column.name, column]));
  const columns = empty.columns.map((column) => earlier.get(column.name) ?? column);
  return {
    schema,
    profile: { ...stored.profile, columns },
    version: `${stored.hash}@${stored.at} left`,
    outcome: 'left',
    freshUntil: 0,
  };
}

/** A table that could not be read is tried again in every scan. */
function freshUntilOf(
  { kind, marker }: TableSchema,
  { at, profile }: StoredProfile,
  config: ScanConfig,
): number {
  if (profile.note !== undefined && kind !== 'view') return 0;
  return marker === undefined ? at + milliseconds(config.max_age) : Infinity;
}

/**
 * Undefined if the budget ends before the table is read. The first table of a scan must succeed, or
 * no scan would ever read it: half of the time is for reading it as configured, the other half for
 * a smaller sample.
 */
async function profileWithinBudget(
  table: TableSchema,
  budget: BudgetTracker,
  context: ProfilingContext,
): Promise<TableProfile | undefined> {
  const isFirst = budget.isUntouched();
  const seconds = Math.max(0.1, budget.secondsLeft());
  if (!budget.take(table)) return undefined;
  const withLimit = (limit: number): ScanContext => ({
    ...context,
    config: { ...context.config, table_seconds: limit },
  });
  const tableSeconds = timeLimitOf(table.kind, context.config);
  if (isFirst) return profileTable(table, withLimit(Math.min(tableSeconds, seconds / 2)));
  if (seconds >= tableSeconds) return profileTable(table, withLimit(tableSeconds));
  const profile = await profileTableOnce(table, withLimit(seconds));
  return profile.isSlow === true ? undefined : profile;
}
