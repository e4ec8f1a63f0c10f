import { UserError } from '../../lib/error.ts';
import { shortHash } from '../../lib/hash.ts';
import { canonicalJson } from '../../lib/json.ts';
import type { HistoryConfig } from '../../warehouse/history/history-config.ts';
import type { TableSchema, Warehouse } from '../../warehouse/warehouse.ts';
import { codeVersion } from '../code-version.ts';
import type { ScanContext } from '../scan-context.ts';
import { type CollectedStatements, collectStatements } from './collect-statements.ts';
import { runMetricCandidates } from './metric-candidates.ts';
import { readQueryLogs } from './read-query-logs.ts';
import { type ReadStatement, readStatements } from './read-statements.ts';
import { type HistorySummary, summarizeHistory } from './summarize-history.ts';

interface HistorySources {
  /** Undefined, or not enabled: the engine is not asked. */
  readonly config: HistoryConfig | undefined;
  /** Files of statements, relative to `dir`. */
  readonly files: readonly string[];
  readonly dir: string;
}

/** What people ran, as far as it may be read. */
export interface StatementsOfPeople extends CollectedStatements {
  /** Why the engine could not be asked, if it should be. Earlier findings then still count. */
  readonly failure?: UserError | undefined;
  /** True if there is neither a live history nor what an earlier scan read of it. */
  readonly isUnknown: boolean;
}

const memoKey = 'history statements';

/** The statements of the files, and of the engine if it is to be asked. Throws for a file. */
export async function loadHistory(
  { config, files, dir }: HistorySources,
  {
    warehouse,
    store,
    signal,
    onQuery,
  }: Pick<ScanContext, 'warehouse' | 'store' | 'signal' | 'onQuery'>,
): Promise<StatementsOfPeople> {
  const named = await readQueryLogs(files, dir);
  if (config?.enabled !== true || warehouse.history === undefined) {
    const collected = collectStatements({ files: named }, config, warehouse.dialect);
    return { ...collected, isUnknown: false };
  }
  const known = store.history(memoKey);
  try {
    onQuery();
    const live = await warehouse.history.read(signal);
    const collected = collectStatements({ live, files: named }, config, warehouse.dialect);
    // Of the statements only their templates are kept.
    const kept = collected.statements.map(({ template, ...rest }) => ({
      ...rest,
      template,
      sql: template,
    }));
    store.save(memoKey, { statements: kept });
    return { ...collected, isUnknown: false };
  } catch (error) {
    if (signal.aborted || !(error instanceof UserError)) throw error;
    const collected = collectStatements({ files: named }, config, warehouse.dialect);
    const statements = known?.statements ?? [];
    return {
      ...collected,
      statements: [...collected.statements, ...statements],
      failure: error,
      isUnknown: known === undefined,
    };
  }
}

interface HistoryInput {
  readonly tables: readonly TableSchema[];
  /** Called when the statements have to be parsed. */
  readonly read: () => Promise<readonly ReadStatement[]>;
}

/** What the statements say about tables, and the metrics that the data can answer. */
export async function learnFromHistory(
  { statements }: Pick<StatementsOfPeople, 'statements'>,
  { tables, read }: HistoryInput,
  context: Omit<ScanContext, 'labels'>,
): Promise<HistorySummary> {
  if (statements.length === 0) return { tables: [], metrics: [] };
  const key = `history ${shortHash(
    canonicalJson([
      codeVersion,
      tables.map(({ schema, table, columns }) => [schema, table, columns.map(({ name }) => name)]),
      statements.map(({ id, runs, users }) => [id, runs, users]),
    ]),
    32,
  )}`;
  const stored = context.store.history(key)?.summary;
  if (stored !== undefined) return stored;
  const summary = summarizeHistory(await read());
  const answered = {
    ...summary,
    metrics: await runMetricCandidates(summary.metrics, context),
  };
  context.store.save(key, { summary: answered });
  return answered;
}

/** Parses the statements when they are first asked for. */
export function statementReader(
  { statements }: Pick<StatementsOfPeople, 'statements'>,
  options: {
    readonly tables: readonly TableSchema[];
    readonly warehouse: Warehouse;
    readonly signal: AbortSignal;
  },
): () => Promise<Awaited<ReturnType<typeof readStatements>>> {
  const { tables, warehouse, signal } = options;
  let reading: ReturnType<typeof readStatements> | undefined;
  return () =>
    (reading ??= readStatements(statements, { tables, dialect: warehouse.dialect, signal }));
}
