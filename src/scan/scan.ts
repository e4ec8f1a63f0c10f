import type { DatabaseSync } from 'node:sqlite';
import type { LinkFinding, ScanFindings } from '../context/catalog.ts';
import { shortHash } from '../lib/hash.ts';
import { canonicalJson } from '../lib/json.ts';
import { tableKey } from '../sql/dialect.ts';
import type { Scope, TableSchema, Warehouse } from '../warehouse/warehouse.ts';
import { milliseconds, type ScanConfig } from './config.ts';
import { factsOf, type ProfiledTable, type TableFacts } from './facts.ts';
import type { ScanModel } from './descriptions.ts';
import { findKeys } from './keys.ts';
import { judgeLinks, type Judgements } from './judge.ts';
import { findLinks } from './links.ts';
import type { MeasureContext } from './measure.ts';
import { profileTable, type TableProfile } from './profile.ts';
import { openScanStore } from './store.ts';

export interface ScanOptions {
  readonly warehouse: Warehouse;
  readonly scope: Scope;
  /** Profiles and measurements of earlier scans; `store/state.ts` opens it. */
  readonly state: { readonly db: DatabaseSync };
  readonly config: ScanConfig;
  /** Judges links in doubt; without one they are left for a person. */
  readonly model?: ScanModel | undefined;
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

interface ScannedTable {
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
  /** What the model made of links in doubt. */
  readonly judgements: Omit<Judgements, 'links'>;
}

/** Warehouse to catalog: structure, then profiles of what changed, then keys, then links. Needs nothing but a warehouse. */
export async function scan(options: ScanOptions): Promise<ScanResult> {
  const { warehouse, config, signal, ignoreDeclared, onProgress } = options;
  const { dialect, connection } = warehouse;
  const schema = await warehouse.introspect(options.scope, signal);
  let queries = schema.queries;
  const onQuery = (): void => {
    queries += 1;
  };
  const store = openScanStore(options.state.db, connection);
  const context = { warehouse, store, config, signal, onQuery };
  const onlyViews = schema.tables.every(({ kind }) => kind === 'view');
  const wanted = schema.tables.filter(({ kind }) => kind !== 'view' || config.views || onlyViews);
  const total = wanted.length;
  const profiles: Profiled[] = [];
  for (const table of wanted) {
    profiles.push(await profileOnce(table, context));
    onProgress?.({ phase: 'profile', done: profiles.length, total, table: table.table });
  }
  const facts = factsOf(profiles);
  onProgress?.({ phase: 'keys', done: total, total });
  const keys = await findKeys(facts, { ...context, ignoreDeclared: ignoreDeclared === 'keys' || ignoreDeclared === 'all' });
  onProgress?.({ phase: 'links', done: total, total });
  const found = await findLinks(facts, keys, { ...context, ignoreDeclared: ignoreDeclared === 'links' || ignoreDeclared === 'all' });
  const { links, ...judgements } = await judged(found, facts, { ...context, model: options.model });
  store.prune();
  const byTable = new Map(profiles.map((entry) => [entry.schema, entry]));
  const reused = profiles.filter((entry) => entry.reused).length;
  return {
    catalog: { connection, dialect: dialect.name, firstSchema: options.scope.schemas?.[0] ?? dialect.defaultSchema, tables: schema.tables },
    primaryKeys: keys.primaryKeys,
    links,
    judgements,
    queries,
    profiled: total - reused,
    reused,
    tables: schema.tables.map((table) => ({ table, profile: byTable.get(table)?.profile, reused: byTable.get(table)?.reused ?? false })),
  };
}

async function judged(
  links: readonly LinkFinding[],
  tables: readonly TableFacts[],
  { model, ...context }: MeasureContext & Pick<ScanOptions, 'model'>,
): Promise<Judgements> {
  return model === undefined ? { links, total: 0, done: 0, calls: 0 } : judgeLinks(links, tables, { ...context, model });
}

type Profiled = ProfiledTable & { readonly reused: boolean };

/** A profile is stored as it arrives, so that an interrupted scan goes on where it stopped. */
async function profileOnce(schema: TableSchema, context: MeasureContext): Promise<Profiled> {
  const { store, config } = context;
  const key = tableKey(schema);
  // Changes with the structure, the engine's change marker and the way of profiling, not with the free estimate of rows.
  const hash = shortHash(canonicalJson([2, { ...schema, rowEstimate: undefined }, config.sample_rows]), 32);
  const stored = store.profile(key);
  const isFresh = schema.marker !== undefined || Date.now() - (stored?.at ?? 0) < milliseconds(config.max_age);
  const reused = stored?.hash === hash && isFresh;
  const current = reused ? stored : { hash, at: Date.now(), profile: await profileTable(schema, context) };
  if (!reused && current.profile.note === undefined) store.save(key, current);
  const version = schema.marker === undefined ? `${hash}@${current.at}` : hash;
  return { schema, profile: current.profile, version, reused };
}
