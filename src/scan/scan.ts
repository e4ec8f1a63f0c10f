import type { DatabaseSync } from 'node:sqlite';
import type { Catalog, ScanFindings } from '../context/catalog.ts';
import type { Claim } from '../context/claim.ts';
import { shortHash } from '../lib/hash.ts';
import { canonicalJson } from '../lib/json.ts';
import { tableKey } from '../sql/dialect.ts';
import type { Scope, TableSchema, Warehouse } from '../warehouse/warehouse.ts';
import { milliseconds, type ScanConfig } from './config.ts';
import { codeVersion } from './code-version.ts';
import { factsOf, type TableFacts } from './facts.ts';
import type { ScanModel } from './descriptions.ts';
import { findKeys } from './keys.ts';
import { judgedLinks } from './claims.ts';
import { judgeLinks } from './judge.ts';
import { findLinks } from './links.ts';
import { profileTable, type ScanContext } from './profile.ts';
import { openScanStore } from './store.ts';
import { unkept } from './values.ts';

export interface ScanOptions {
  readonly warehouse: Warehouse;
  readonly scope: Scope;
  /** Profiles and measurements of earlier scans; `store/state.ts` opens it. */
  readonly state: { readonly db: DatabaseSync };
  readonly config: ScanConfig;
  /** Judges links in doubt; without one they are left for a person. */
  readonly model?: ScanModel | undefined;
  /** The claims of the connection as they stand: what a model decided in an earlier run stays decided. */
  readonly known?: readonly Claim[] | undefined;
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

/** `queries` are the statements sent, those of the introspection included; a view that is not profiled has no profile. */
export type ScanResult = Awaited<ReturnType<typeof scan>>;

/** Warehouse to catalog: structure, then profiles of what changed, then keys, then links. Needs nothing but a warehouse. */
export async function scan(options: ScanOptions) {
  const { warehouse, config, signal, onProgress } = options;
  const ignored = options.ignoreDeclared;
  const ignoredKeys = ignored === 'keys' || ignored === 'all' ? { primaryKey: undefined, uniqueKeys: [] } : {};
  const ignoredLinks = ignored === 'links' || ignored === 'all' ? { foreignKeys: [] } : {};
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
  const profiles: Awaited<ReturnType<typeof profileOnce>>[] = [];
  for (const table of wanted) {
    profiles.push(await profileOnce(table, context));
    onProgress?.({ phase: 'profile', done: profiles.length, total, table: table.table });
  }
  const facts = factsOf(profiles.map((entry) => ({ ...entry, schema: { ...entry.schema, ...ignoredKeys, ...ignoredLinks } })));
  onProgress?.({ phase: 'keys', done: total, total });
  const memo = analysisKey(facts, config);
  const known = store.analysis(memo);
  const found = known ?? (await analysed(facts, { ...context, onLinks: () => onProgress?.({ phase: 'links', done: total, total }) }));
  if (known === undefined) store.save(memo, found);
  const catalog: Catalog = {
    connection,
    dialect: dialect.name,
    firstSchema: options.scope.schemas?.[0] ?? dialect.defaultSchema,
    tables: schema.tables,
  };
  const decided = judgedLinks(options.known ?? [], catalog);
  const { links, ...judgements } = await judgeLinks(found.links, facts, { ...context, model: options.model, decided });
  // An analysis that stands asked for none of the measurements that it rests on.
  if (known === undefined) store.prune();
  const byTable = new Map(profiles.map(({ profile, reused }, index) => [wanted[index], { profile, reused }]));
  const reusedCount = profiles.filter(({ reused }) => reused).length;
  const findings: ScanFindings = { catalog, primaryKeys: found.primaryKeys, links };
  return {
    ...findings,
    judgements,
    queries,
    profiled: total - reusedCount,
    reused: reusedCount,
    tables: schema.tables.map((table) => ({ ...byTable.get(table), table })),
  };
}

/** Keys and links of the tables as they are. */
async function analysed(facts: readonly TableFacts[], context: ScanContext & { readonly onLinks: () => void }) {
  const keys = await findKeys(facts, context);
  context.onLinks();
  return { primaryKeys: keys.primaryKeys, links: await findLinks(facts, keys, context) };
}

/** Changes with any table, with what is declared of it, with the thresholds, and with the code that judges. */
function analysisKey(facts: readonly TableFacts[], { accept, review }: ScanConfig): string {
  const tables = facts.map(({ version, schema: { primaryKey, uniqueKeys, foreignKeys } }) => [
    version,
    primaryKey,
    uniqueKeys,
    foreignKeys,
  ]);
  return `analysis ${shortHash(JSON.stringify([codeVersion, accept, review, tables]), 32)}`;
}

/** A profile is stored as it arrives, so that an interrupted scan goes on where it stopped. */
async function profileOnce(schema: TableSchema, context: ScanContext) {
  const { store, config } = context;
  const key = tableKey(schema);
  // Changes with the structure, the engine's change marker and the way of profiling, not with the free estimate of rows.
  const bare = { ...schema, rowEstimate: undefined, bytes: undefined };
  const left = unkept(schema, schema.columns, config.no_values);
  const hash = shortHash(canonicalJson([3, bare, config.sample_rows, config.table_bytes, left]), 32);
  const stored = store.profile(key);
  const isFresh = schema.marker !== undefined || Date.now() - (stored?.at ?? 0) < milliseconds(config.max_age);
  const reused = stored?.hash === hash && isFresh;
  const current = reused ? stored : { hash, at: Date.now(), profile: await profileTable(schema, context) };
  if (!reused && current.profile.note === undefined) store.save(key, current);
  const version = schema.marker === undefined ? `${hash}@${current.at}` : hash;
  return { schema, profile: current.profile, version, reused };
}
