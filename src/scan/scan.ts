import type { DatabaseSync } from 'node:sqlite';
import type { Catalog, ScanFindings } from '../context/catalog/catalog.ts';
import type { Claim } from '../context/claims/claim.ts';
import { shortHash } from '../lib/hash.ts';
import { tableKey, type TableRef } from '../sql/dialect.ts';
import type { Scope, Warehouse } from '../warehouse/warehouse.ts';
import type { ScanConfig } from './config.ts';
import { codeVersion } from './code-version.ts';
import { buildTableFacts, type TableFacts } from './facts/table-facts.ts';
import type { ScanModel } from './describe/descriptions.ts';
import { findKeys } from './keys/find-keys.ts';
import { judgedLinks } from './scan-claims.ts';
import { judgeLinks } from './describe/judge-links.ts';
import { findLinks } from './links/find-links.ts';
import { countObservedJoins } from './links/observed-joins.ts';
import type { ScanContext } from './profile/profile-table.ts';
import { type Budget, isUnread, type Profiled, profileTables } from './profile/profile-tables.ts';
import { statementsOf } from './links/read-query-logs.ts';
import { openScanStore } from './scan-store.ts';

export interface ScanOptions {
  readonly warehouse: Warehouse;
  readonly scope: Scope;
  /** Profiles and measurements of earlier scans; `store/state.ts` opens it. */
  readonly state: { readonly db: DatabaseSync };
  readonly config: ScanConfig;
  /** What the paths of `config.query_logs` are relative to; the current folder without. */
  readonly dir?: string | undefined;
  /** Judges links in doubt; without one they are left for a person. */
  readonly model?: ScanModel | undefined;
  /** The claims of the connection as they stand: what a model decided in an earlier run stays decided. */
  readonly known?: readonly Claim[] | undefined;
  /** Pretend that the database declares no keys, no links, or neither. */
  readonly ignoreDeclared?: 'keys' | 'links' | 'all' | undefined;
  /** In place of what the configuration allows. */
  readonly budget?: Budget | undefined;
  readonly signal: AbortSignal;
  readonly onProgress?: ((progress: ScanProgress) => void) | undefined;
}

export interface ScanProgress {
  readonly phase: 'profile' | 'keys' | 'links';
  /** Of the tables that are to be profiled: those that are done, and all; during `keys` and `links` all are done. */
  readonly done: number;
  readonly total: number;
  /** The table that was just done. */
  readonly table?: string | undefined;
}

/**
 * `queries` are the statements sent, those of the introspection included; a view that is not profiled has no profile. `left` are the
 * tables that the budget was too small for, `unread` those of which nothing is known but what is declared.
 */
export type ScanResult = Awaited<ReturnType<typeof scan>>;

/** Warehouse to catalog: structure, then profiles of what changed, then keys, then links. Needs nothing but a warehouse. */
export async function scan(options: ScanOptions) {
  const { warehouse, config, signal, onProgress } = options;
  const ignored = options.ignoreDeclared;
  const ignoredKeys =
    ignored === 'keys' || ignored === 'all' ? { primaryKey: undefined, uniqueKeys: [] } : {};
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
  const budget = { seconds: config.max_seconds, bytes: config.max_bytes, ...options.budget };
  let total = 0;
  const profiles = await profileTables(wanted, {
    ...context,
    budget,
    onProfile(progress) {
      total = progress.total;
      onProgress?.({ phase: 'profile', ...progress });
    },
  });
  const judged = profiles.map((entry) => ({
    ...entry,
    schema: { ...entry.schema, ...ignoredKeys, ...ignoredLinks },
  }));
  let told: readonly TableFacts[] | undefined;
  // An unchanged warehouse needs none.
  const facts = (): readonly TableFacts[] => (told ??= buildTableFacts(judged));
  onProgress?.({ phase: 'keys', done: total, total });
  const statements = await statementsOf(config.query_logs, options.dir ?? '.');
  const memo = analysisKey(judged, config, statements);
  const known = store.analysis(memo);
  const onLinks = (): void => onProgress?.({ phase: 'links', done: total, total });
  const found = known ?? (await analysed(facts(), { ...context, statements, onLinks }));
  if (known === undefined) store.save(memo, found);
  const catalog: Catalog = {
    connection,
    dialect: dialect.name,
    firstSchema: options.scope.schemas?.[0] ?? dialect.defaultSchema,
    tables: schema.tables,
  };
  const decided = judgedLinks(options.known ?? [], catalog);
  const { links, ...judgements } = await judgeLinks(found.links, facts, {
    ...context,
    model: options.model,
    decided,
  });
  // An analysis that stands asked for none of the measurements that it rests on.
  if (known === undefined) store.prune();
  const byTable = new Map(profiles.map((entry, index) => [wanted[index], entry]));
  const count = (wished: Profiled['outcome']): number =>
    profiles.filter(({ outcome }) => outcome === wished).length;
  const findings: ScanFindings = { catalog, primaryKeys: found.primaryKeys, links };
  return {
    ...findings,
    judgements,
    queries,
    profiled: count('profiled'),
    reused: count('reused'),
    left: count('left'),
    unread: profiles.filter(isUnread).map(({ schema: table }): TableRef => table),
    tables: schema.tables.map((table) => {
      const { profile, outcome } = byTable.get(table) ?? {};
      return { table, profile, outcome };
    }),
  };
}

interface AnalysisContext extends ScanContext {
  /** Of the query logs. */
  readonly statements: readonly string[];
  readonly onLinks: () => void;
}

/** Keys and links of the tables as they are. */
async function analysed(facts: readonly TableFacts[], context: AnalysisContext) {
  const keys = await findKeys(facts, context);
  context.onLinks();
  const seen = await countObservedJoins(context.statements, facts, context.warehouse.dialect);
  const links = await findLinks(facts, keys, { ...context, seen });
  // A table that was not read looks like an empty one, and of those names alone decide.
  const unread = new Set(facts.filter(isUnread).map(({ ref }) => tableKey(ref)));
  const isRead = (table: TableRef): boolean => !unread.has(tableKey(table));
  return {
    primaryKeys: keys.primaryKeys.filter(
      ({ origin, table }) => origin === 'declared' || isRead(table),
    ),
    links: links.filter(
      ({ origin, from, to }) => origin === 'declared' || (isRead(from.table) && isRead(to.table)),
    ),
  };
}

/** Changes with any table, with what is declared of it, with the query logs, the thresholds, and the code that judges. */
function analysisKey(
  profiles: readonly Profiled[],
  { accept, review }: ScanConfig,
  statements: readonly string[],
): string {
  const tables = profiles.map(({ version, schema: { primaryKey, uniqueKeys, foreignKeys } }) => [
    version,
    primaryKey,
    uniqueKeys,
    foreignKeys,
  ]);
  return `analysis ${shortHash(JSON.stringify([codeVersion, accept, review, tables, statements]), 32)}`;
}
