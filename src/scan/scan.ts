import type { DatabaseSync } from 'node:sqlite';
import type { Catalog, ScanFindings } from '../context/catalog/catalog.ts';
import { keepNames } from '../context/catalog/dataset-names.ts';
import { type ColumnLabels, noLabels } from '../context/catalog/column-labels.ts';
import type { Claim } from '../context/claims/claim.ts';
import { shortHash } from '../lib/hash.ts';
import type { KtxEmbeddingPort } from '../llm/port/embedding.ts';
import { tableKey, type TableRef } from '../sql/dialect.ts';
import type { Scope, TableSchema, Warehouse, WarehouseSchema } from '../warehouse/warehouse.ts';
import { codeVersion } from './code-version.ts';
import type { ScanConfig } from './config.ts';
import { judgeLinks } from './describe/judge-links.ts';
import type { ScanModel } from './describe/scan-model.ts';
import { buildTableFacts, type TableFacts } from './facts/table-facts.ts';
import { findKeys } from './keys/find-keys.ts';
import { findLinks } from './links/find-links.ts';
import { compareNames, type NameMeanings } from './names/name-meanings.ts';
import { countObservedJoins } from './links/observed-joins.ts';
import {
  learnFromHistory,
  loadHistory,
  statementReader,
  type StatementsOfPeople,
} from './history/read-history.ts';
import type { ReadStatement } from './history/read-statements.ts';
import type { HistoryConfig } from '../warehouse/history/history-config.ts';
import { type PlannedReads, planReads, scanBudget, type ScanBudget } from './profile/budget.ts';
import { isUnread, type ProfiledTable, profileTables } from './profile/profile-tables.ts';
import { judgedLinks } from './scan-claims.ts';
import type { ScanContext } from './scan-context.ts';
import { openScanStore } from './scan-store.ts';

export interface ScanOptions {
  readonly warehouse: Warehouse;
  readonly scope: Scope;
  /** The catalog of an earlier run: its names stay. */
  readonly recorded?: Catalog | undefined;
  /** The structure of the warehouse, if it was read already. */
  readonly schema?: WarehouseSchema | undefined;
  /** Has the profiles and measurements of earlier scans; `store/state.ts` opens it. */
  readonly state: { readonly db: DatabaseSync };
  readonly config: ScanConfig;
  /** What people wrote about columns in dataset files; nothing if undefined. */
  readonly labels?: ColumnLabels | undefined;
  /** The folder in which paths of `config.query_logs` start; the current folder if undefined. */
  readonly dir?: string | undefined;
  /** What may be learned from the statements that people ran; nothing if undefined. */
  readonly history?: HistoryConfig | undefined;
  /** Judges links in doubt. If undefined, they are left for a person. */
  readonly model?: ScanModel | undefined;
  /** Compares names by their meaning; undefined without a provider. */
  readonly embeddings?: KtxEmbeddingPort | undefined;
  /**
   * The current claims of the connection: a link that a model decided in an earlier scan stays
   * decided.
   */
  readonly known?: readonly Claim[] | undefined;
  /** Scans as if the database declared no keys, no links, or neither. */
  readonly ignoreDeclared?: 'keys' | 'links' | 'all' | undefined;
  /** Overrides the budget of the configuration. */
  readonly budget?: ScanBudget | undefined;
  readonly signal: AbortSignal;
  /**
   * Called before the first row is read, where the provider bills bytes and there is something to
   * read.
   */
  readonly onPlan?: ((plan: PlannedReads) => void) | undefined;
  readonly onProgress?: ((progress: ScanProgress) => void) | undefined;
}

export interface ScanProgress {
  readonly phase: 'profile' | 'keys' | 'links';
  /** Of the tables to profile: how many are done, and how many there are. */
  readonly done: number;
  readonly total: number;
  /** The table that was just profiled. */
  readonly table?: string | undefined;
}

/**
 * `queries` is the number of statements sent. `tables` are all tables of the catalog; a view that
 * is not profiled has no profile. `left` is the number of tables that the budget did not cover. Of
 * `unread` tables only the declared structure is known.
 */
export type ScanResult = Awaited<ReturnType<typeof scan>>;

/**
 * Turns a warehouse into a catalog with keys and links. The steps, in order:
 *
 * 1. introspect: read tables, columns and declared keys from the engine's catalogs
 * 2. profile: measure the tables that have changed (`profile/`)
 * 3. facts: parse names, and join them with structure and profiles (`facts/`, `names/`)
 * 4. keys: find primary keys (`keys/`)
 * 5. candidates: pair columns with keys that they may refer to (`links/find-candidates.ts`), by
 *    meaning too if there are embeddings (`names/name-meanings.ts`)
 * 6. features, rank: compute a probability for each pair (`links/features.ts`,
 *    `links/rank-candidates.ts`)
 * 7. measure, confirm: count the values of the best pairs exactly (`links/confirm-candidates.ts`)
 * 8. choose: accept at most one link per column (`links/choose/choose-links.ts`)
 * 9. judge: let a model decide about links in doubt, if there is one (`describe/judge-links.ts`)
 *
 * Steps 3 to 8 are skipped if nothing has changed since the last scan. Descriptions of tables are a
 * separate call (`describe/descriptions.ts`).
 */
export async function scan(options: ScanOptions) {
  const { warehouse, config, labels = noLabels, signal, onProgress } = options;
  const schema = options.schema ?? (await warehouse.introspect(options.scope, signal));
  let queries = schema.queries;
  const onQuery = (): void => {
    queries += 1;
  };
  const store = openScanStore(options.state.db, warehouse.connection);
  const context: ScanContext = { warehouse, store, config, labels, signal, onQuery };

  const { profiles, total } = await profileStep(schema, options, context);
  const tables = profiles.map((table) => ({
    ...table,
    schema: hideDeclared(table.schema, options.ignoreDeclared),
  }));
  // Built on first use: an unchanged warehouse needs no facts.
  let builtFacts: readonly TableFacts[] | undefined;
  const facts = (): readonly TableFacts[] => (builtFacts ??= buildTableFacts(tables));

  onProgress?.({ phase: 'keys', done: total, total });
  const people = await loadHistory(
    { config: options.history, files: config.query_logs, dir: options.dir ?? '.' },
    context,
  );
  const statements = people.statements.map(({ id }) => id).sort();
  const readable = { tables: tables.map((table) => table.schema), warehouse, signal };
  const readPeople = statementReader(people, readable);
  const names = await compareNamesOnce(facts, store, { options, tables, statements });
  const { meanings, key } = names;
  const stored = store.analysis(key);
  const onLinks = (): void => onProgress?.({ phase: 'links', done: total, total });
  const read = async () => (await readPeople()).read;
  const analysis = stored ?? (await analyze(facts(), { ...context, read, meanings, onLinks }));
  if (stored === undefined) store.save(key, analysis);
  const summary = await learnFromHistory(people, { ...readable, read }, context);

  const catalog = keepNames(catalogOf(schema, options), options.recorded);
  const { links, ...judgements } = await judgeLinks(analysis.links, facts, {
    ...context,
    model: options.model,
    decided: judgedLinks(options.known ?? [], catalog),
  });
  // A stored analysis did not load the measurements that it is based on, so nothing may be pruned.
  if (stored === undefined) store.prune();
  const findings: ScanFindings = { catalog, primaryKeys: analysis.primaryKeys, links };
  const { comparison } = names;
  return {
    ...findings,
    labels,
    judgements,
    names: comparison,
    history: historyResult(people, summary),
    schema,
    queries,
    ...summarizeProfiles(schema, profiles),
  };
}

/** All tables; views only if the configuration says so, or if there is nothing else. */
export function profiledKinds(
  { tables }: WarehouseSchema,
  config: Pick<ScanConfig, 'views'>,
): readonly TableSchema[] {
  const hasOnlyViews = tables.every(({ kind }) => kind === 'view');
  return tables.filter(({ kind }) => kind !== 'view' || config.views || hasOnlyViews);
}

async function profileStep(schema: WarehouseSchema, options: ScanOptions, context: ScanContext) {
  const { config, warehouse, onPlan, onProgress } = options;
  const { usdPerTib } = warehouse;
  const budget = { ...scanBudget(config, warehouse), ...options.budget };
  let total = 0;
  const profiles = await profileTables(profiledKinds(schema, config), {
    ...context,
    budget,
    onDue(due) {
      const plan =
        usdPerTib === undefined ? undefined : planReads(due, budget, { config, usdPerTib });
      if (plan !== undefined) onPlan?.(plan);
    },
    onProfile(progress) {
      total = progress.total;
      onProgress?.({ phase: 'profile', ...progress });
    },
  });
  return { profiles, total };
}

function hideDeclared(schema: TableSchema, ignored: ScanOptions['ignoreDeclared']): TableSchema {
  const hidesKeys = ignored === 'keys' || ignored === 'all';
  const hidesLinks = ignored === 'links' || ignored === 'all';
  return {
    ...schema,
    ...(hidesKeys ? { primaryKey: undefined, uniqueKeys: [] } : {}),
    ...(hidesLinks ? { foreignKeys: [] } : {}),
  };
}

interface AnalysisContext extends ScanContext {
  /** Parses what people ran. */
  readonly read: () => Promise<readonly ReadStatement[]>;
  readonly meanings: NameMeanings | undefined;
  readonly onLinks: () => void;
}

/** Steps 4 to 8: keys and links of the tables. */
async function analyze(facts: readonly TableFacts[], context: AnalysisContext) {
  const keys = await findKeys(facts, context);
  context.onLinks();
  const observedJoins = countObservedJoins(await context.read(), facts);
  const links = await findLinks(facts, keys, { ...context, observedJoins });
  // A table that was not read looks like an empty one, for which names alone would decide.
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

interface AnalysisInput {
  readonly options: ScanOptions;
  readonly tables: readonly ProfiledTable[];
  /** The ids of what people ran. */
  readonly statements: readonly string[];
}

/**
 * Nothing is embedded if the analysis with these names is stored. After a failure the analysis is
 * the one without embeddings.
 */
async function compareNamesOnce(
  facts: () => readonly TableFacts[],
  store: ScanContext['store'],
  { options, tables, statements }: AnalysisInput,
): Promise<Partial<Awaited<ReturnType<typeof compareNames>>> & { readonly key: string }> {
  const { embeddings, config, state, signal } = options;
  const keyWith = (fingerprint?: string) =>
    analysisKey(tables, config, { statements, fingerprint });
  if (embeddings === undefined) return { key: keyWith() };
  const key = keyWith(embeddings.fingerprint);
  if (store.analysis(key) !== undefined) return { key };
  const compared = await compareNames(facts(), embeddings, { db: state.db, signal });
  return { ...compared, key: compared.meanings === undefined ? keyWith() : key };
}

/**
 * Changes with any table, its declared keys and links, the query logs, the thresholds, and the code
 * of this room.
 */
function analysisKey(
  profiles: readonly ProfiledTable[],
  { accept, review }: ScanConfig,
  {
    statements,
    fingerprint,
  }: Pick<AnalysisInput, 'statements'> & { readonly fingerprint?: string | undefined },
): string {
  const tables = profiles.map(({ version, schema: { primaryKey, uniqueKeys, foreignKeys } }) => [
    version,
    primaryKey,
    uniqueKeys,
    foreignKeys,
  ]);
  const model = fingerprint === undefined ? [] : [fingerprint];
  return `analysis ${shortHash(JSON.stringify([codeVersion, accept, review, tables, statements, ...model]), 32)}`;
}

/** Undefined summary: nothing is known, so what earlier runs learned stays. */
function historyResult(
  { isUnknown, failure, statements, users, leftOut, since, hidden }: StatementsOfPeople,
  summary: Awaited<ReturnType<typeof learnFromHistory>>,
) {
  const counts = { statements: statements.length, users: users.length, leftOut, since, hidden };
  return { ...counts, failure, summary: isUnknown ? undefined : summary };
}

function catalogOf(schema: WarehouseSchema, { warehouse, scope }: ScanOptions): Catalog {
  const { connection, dialect } = warehouse;
  return {
    connection,
    dialect: dialect.name,
    firstSchema: scope.schemas?.[0] ?? dialect.defaultSchema,
    tables: schema.tables,
  };
}

function summarizeProfiles({ tables }: WarehouseSchema, profiles: readonly ProfiledTable[]) {
  const profileBySchema = new Map(profiles.map((profile) => [profile.schema, profile]));
  const count = (outcome: ProfiledTable['outcome']): number =>
    profiles.filter((profile) => profile.outcome === outcome).length;
  return {
    freshUntil: profiles.reduce((least, table) => Math.min(least, table.freshUntil), Infinity),
    profiled: count('profiled'),
    reused: count('reused'),
    left: count('left'),
    unread: profiles.filter(isUnread).map(({ schema }): TableRef => schema),
    tables: tables.map((table) => {
      const { profile, outcome } = profileBySchema.get(table) ?? {};
      return { table, profile, outcome };
    }),
  };
}
