import type { DatabaseSync } from 'node:sqlite';
import type { Catalog, ScanFindings } from '../context/catalog.ts';
import { canonicalJson } from '../lib/json.ts';
import { shortHash } from '../lib/hash.ts';
import { tableKey } from '../sql/dialect.ts';
import type { Scope, TableSchema, Warehouse } from '../warehouse/warehouse.ts';
import { milliseconds, type ScanConfig } from './config.ts';
import { factsOf, type ProfiledTable } from './facts.ts';
import { findKeys } from './keys.ts';
import { findLinks } from './links.ts';
import { profileTable, type TableProfile } from './profile.ts';
import { openScanStore, type ScanStore } from './store.ts';

export interface ScanOptions {
  readonly warehouse: Warehouse;
  readonly scope: Scope;
  /** Profiles and measurements of earlier scans; `store/state.ts` opens it. */
  readonly state: { readonly db: DatabaseSync };
  readonly config: ScanConfig;
  /** Pretend that the database declares no keys, no links, or neither. */
  readonly ignoreDeclared?: 'keys' | 'links' | 'all' | undefined;
  readonly signal: AbortSignal;
  readonly onProgress?: ((progress: ScanProgress) => void) | undefined;
}

export interface ScanProgress {
  readonly phase: 'profile' | 'keys' | 'links';
  /** Tables done, of how many; during `keys` and `links` all are done. */
  readonly done: number;
  readonly total: number;
  /** The table that was just done. */
  readonly table?: string | undefined;
}

export interface ScannedTable {
  readonly table: TableSchema;
  /** Undefined for a view that is not profiled. */
  readonly profile?: TableProfile | undefined;
  readonly reused: boolean;
}

export interface ScanResult extends ScanFindings {
  /** Statements sent, those of the introspection included. */
  readonly queries: number;
  readonly profiled: number;
  readonly reused: number;
  readonly tables: readonly ScannedTable[];
}

/** Warehouse to catalog: structure, then profiles of what changed, then keys, then links. Needs nothing but a warehouse. */
export async function scan(options: ScanOptions): Promise<ScanResult> {
  const { warehouse, config, signal, ignoreDeclared } = options;
  const schema = await warehouse.introspect(options.scope, signal);
  let queries = schema.queries;
  const onQuery = (): void => {
    queries += 1;
  };
  const store = openScanStore(options.state.db, warehouse.connection);
  const onlyViews = schema.tables.every(({ kind }) => kind === 'view');
  const wanted = schema.tables.filter(({ kind }) => kind !== 'view' || config.views || onlyViews);
  const profiled = await profileAll(wanted, { options, store, onQuery });
  const tables = factsOf(profiled);
  const context = { warehouse, store, config, timeoutMs: config.table_seconds * 1000, signal, onQuery };
  options.onProgress?.({ phase: 'keys', done: wanted.length, total: wanted.length });
  const keys = await findKeys(tables, { ...context, ignoreDeclared: ignoreDeclared === 'keys' || ignoreDeclared === 'all' });
  options.onProgress?.({ phase: 'links', done: wanted.length, total: wanted.length });
  const links = await findLinks(tables, keys, { ...context, ignoreDeclared: ignoreDeclared === 'links' || ignoreDeclared === 'all' });
  store.prune(new Set(schema.tables.map(tableKey)));
  const byTable = new Map(profiled.map((entry) => [entry.schema, entry]));
  return {
    catalog: catalogOf(schema.tables, options),
    primaryKeys: keys.primaryKeys,
    links,
    queries,
    profiled: profiled.filter(({ reused }) => !reused).length,
    reused: profiled.filter(({ reused }) => reused).length,
    tables: schema.tables.map((table) => ({ table, profile: byTable.get(table)?.profile, reused: byTable.get(table)?.reused ?? false })),
  };
}

interface ProfileRun {
  readonly options: ScanOptions;
  readonly store: ScanStore;
  readonly onQuery: () => void;
}

type Profiled = ProfiledTable & { readonly reused: boolean };

/** Each profile is stored as it arrives, so an interrupted scan goes on where it stopped. */
async function profileAll(tables: readonly TableSchema[], { options, store, onQuery }: ProfileRun): Promise<Profiled[]> {
  const { warehouse, config, signal } = options;
  const results: Profiled[] = [];
  for (const table of tables) {
    const hash = tableHash(table, config);
    const stored = store.profile(tableKey(table));
    const fresh = table.marker !== undefined || Date.now() - (stored?.at ?? 0) < milliseconds(config.max_age);
    const reused = stored?.hash === hash && fresh ? stored : undefined;
    const current = reused ?? { hash, at: Date.now(), profile: await profileTable(table, { warehouse, config, signal, onQuery }) };
    if (!reused) store.saveProfile(tableKey(table), current);
    const version = table.marker === undefined ? `${hash}@${current.at}` : hash;
    results.push({ schema: table, profile: current.profile, version, reused: reused !== undefined });
    options.onProgress?.({ phase: 'profile', done: results.length, total: tables.length, table: table.table });
  }
  return results;
}

/** Changes when the structure, the engine's change marker or the way of profiling does; the free estimate of rows alone changes nothing. */
function tableHash({ rowEstimate: _, ...structure }: TableSchema, config: ScanConfig): string {
  return shortHash(canonicalJson([1, structure, config.sample_rows]), 32);
}

function catalogOf(tables: readonly TableSchema[], { warehouse, scope }: ScanOptions): Catalog {
  const { dialect, connection } = warehouse;
  const firstSchema = scope.schemas?.[0] ?? dialect.defaultSchema;
  return { connection, dialect: dialect.name, firstSchema, tables: tables.map(({ marker: _, rowEstimate: __, ...table }) => table) };
}
