import { shortHash } from '../../lib/hash.ts';
import { canonicalJson } from '../../lib/json.ts';
import { tableKey } from '../../sql/dialect.ts';
import type { TableSchema } from '../../warehouse/warehouse.ts';
import { milliseconds, type ScanConfig } from '../config.ts';
import {
  profileTable,
  profileWished,
  unread,
  type ScanContext,
  type TableProfile,
} from './profile-table.ts';
import type { StoredProfile } from '../scan-store.ts';
import { unkept } from './value-dictionary.ts';

/** What one run may spend on profiles; without limit where it is left out. */
export interface Budget {
  readonly seconds?: number | undefined;
  /** As the engine counts what tables hold; of a sample, its share. */
  readonly bytes?: number | undefined;
}

export interface Profiled {
  readonly schema: TableSchema;
  readonly profile: TableProfile;
  /** Changes with what was read of the table; measurements of two equal versions are equal. Empty where nothing ever was. */
  readonly version: string;
  /** `left`: the budget was spent before its turn came; then the profile is that of an earlier state, or empty. */
  readonly outcome: 'reused' | 'profiled' | 'left';
}

/** No scan had the budget for it yet, or it cannot be read. */
export const isUnread = ({ version, profile }: Pick<Profiled, 'version' | 'profile'>): boolean =>
  version === '' || profile.note !== undefined;

interface Profiling extends ScanContext {
  readonly budget: Budget;
  readonly onProfile: (progress: {
    readonly done: number;
    readonly total: number;
    readonly table: string;
  }) => void;
}

interface Task {
  readonly schema: TableSchema;
  readonly key: string;
  /** Of the structure, the engine's change marker and the way of profiling; not of the free estimate of rows. */
  readonly hash: string;
  readonly stored: StoredProfile | undefined;
  readonly reused: boolean;
}

/**
 * The profiles of the tables, in their order: those that stand, and those of what changed, each stored as it arrives, so that a
 * run that is killed or spends its budget is gone on with by the next one. What could not be read last time comes last.
 */
export async function profileTables(
  tables: readonly TableSchema[],
  context: Profiling,
): Promise<Profiled[]> {
  const tasks = tables.map((schema) => taskOf(schema, context));
  const due = tasks.filter(({ reused }) => !reused);
  const failed = due.filter((task) => hasFailed(task));
  const pending = [...due.filter((task) => !hasFailed(task)), ...failed];
  const purse = openPurse(context);
  const profiled = new Map<Task, StoredProfile>();
  for (const [done, task] of pending.entries()) {
    const profile = await profiledWithin(task.schema, purse, context);
    if (profile === undefined) break;
    const { key, hash } = task;
    const current = { hash, at: Date.now(), profile };
    context.store.saveProfile(key, current);
    profiled.set(task, current);
    context.onProfile({ done: done + 1, total: pending.length, table: task.schema.table });
  }
  return tasks.map((task) => outcomeOf(task, profiled.get(task)));
}

const hasFailed = ({ stored, hash }: Task): boolean =>
  stored?.hash === hash && stored.profile.note !== undefined;

function taskOf(schema: TableSchema, { store, config }: Profiling): Task {
  const bare = { ...schema, rowEstimate: undefined, bytes: undefined };
  const left = unkept(schema, schema.columns, config.no_values);
  const hash = shortHash(
    canonicalJson([profileForm, bare, config.sample_rows, config.table_bytes, left]),
    32,
  );
  const key = tableKey(schema);
  const stored = store.profile(key);
  const isFresh =
    schema.marker !== undefined || Date.now() - (stored?.at ?? 0) < milliseconds(config.max_age);
  return {
    schema,
    key,
    hash,
    stored,
    reused: stored?.hash === hash && stored.profile.note === undefined && isFresh,
  };
}

/** Raise it when profiles are measured or kept in another way. */
const profileForm = 5;

function outcomeOf({ schema, stored, reused }: Task, fresh: StoredProfile | undefined): Profiled {
  const current = fresh ?? (reused ? stored : undefined);
  if (current !== undefined) {
    const isKnown = schema.marker !== undefined && current.profile.note === undefined;
    const version = isKnown ? current.hash : `${current.hash}@${current.at}`;
    return {
      schema,
      profile: current.profile,
      version,
      outcome: fresh === undefined ? 'reused' : 'profiled',
    };
  }
  const nothing = unread(schema.columns, undefined);
  if (stored === undefined || stored.profile.note !== undefined)
    return { schema, profile: nothing, version: '', outcome: 'left' };
  const before = new Map(stored.profile.columns.map((column) => [column.name, column]));
  const columns = nothing.columns.map((column) => before.get(column.name) ?? column);
  return {
    schema,
    profile: { ...stored.profile, columns },
    version: `${stored.hash}@${stored.at} left`,
    outcome: 'left',
  };
}

type Purse = ReturnType<typeof openPurse>;

function openPurse({ budget, config }: Profiling) {
  const started = performance.now();
  let bytes = 0;
  let isUntouched = true;
  return {
    isUntouched: () => isUntouched,
    secondsLeft: () => (budget.seconds ?? Infinity) - (performance.now() - started) / 1000,
    /** Takes what the table will cost; false where that is more than is left. The first table is always paid for. */
    take(table: TableSchema): boolean {
      bytes += bytesOf(table, config);
      const isPaid = isUntouched || (bytes <= (budget.bytes ?? Infinity) && this.secondsLeft() > 0);
      isUntouched = false;
      return isPaid;
    },
  };
}

/** By the estimate of the rows where the engine counts no bytes. */
function bytesOf({ bytes, rowEstimate = 0, columns }: TableSchema, config: ScanConfig): number {
  const size = bytes ?? rowEstimate * columns.length * 8;
  return (
    size *
    Math.min(
      1,
      config.sample_rows / Math.max(1, rowEstimate),
      config.table_bytes / Math.max(1, size),
    )
  );
}

/**
 * Undefined where the budget ends before the table is read. The first table of a run has no later run to hope for: half of the
 * time is for all of it, the other half for a sample.
 */
async function profiledWithin(
  table: TableSchema,
  purse: Purse,
  context: Profiling,
): Promise<TableProfile | undefined> {
  const isFirst = purse.isUntouched();
  const seconds = Math.max(0.1, purse.secondsLeft());
  if (!purse.take(table)) return undefined;
  const limited = (limit: number): ScanContext => ({
    ...context,
    config: { ...context.config, table_seconds: limit },
  });
  const { table_seconds: most } = context.config;
  if (isFirst) return profileTable(table, limited(Math.min(most, seconds / 2)));
  if (seconds >= most) return profileTable(table, context);
  const profile = await profileWished(table, limited(seconds));
  return profile.isSlow === true ? undefined : profile;
}
