import type { Conflict } from '../../context/compile/conflicts.ts';
import { parseSubject } from '../../context/claims/subject.ts';
import type { Diagnostic } from '../../lib/diagnostic.ts';
import { UserError } from '../../lib/error.ts';
import type { LoadedModel } from '../../semantic/load/load.ts';
import type { SemanticQuery } from '../../semantic/query/query.ts';
import { withAnalyzer } from '../../sql/analyzer.ts';
import type { QueryLimits } from '../../warehouse/warehouse.ts';
import { commitState } from '../open/commit-state.ts';
import { readConflicts } from '../review/conflicts.ts';
import type { Project } from '../open/open.ts';
import { openStaleness } from '../review/stale.ts';

interface Asked {
  readonly connection?: string | undefined;
  readonly query: SemanticQuery;
}

/** What one call may ask instead of the configured limits. */
export type WantedLimits = Readonly<
  Partial<Record<'maxRows' | 'timeoutSeconds', number | undefined>>
>;

export type QueryAnswer = Awaited<ReturnType<typeof runQuery>>;
/** Where the numbers come from: per metric, and the files with their commit. */
export type QueryReceipt = QueryAnswer['receipt'];

/** Plans and compiles a semantic query: what would be sent, in SQL and in words, and where it comes from. Sends nothing. */
export async function planQuery(project: Project, asked: Asked) {
  const { outlineOf } = await import('../../semantic/plan/outline.ts');
  const compiled = await compile(project, asked);
  const { plan, connection, sql, dialect } = compiled;
  return {
    connection,
    plan: outlineOf(plan, { query: asked.query, dialect }),
    sql,
    receipt: await receiptOf(project, compiled),
  };
}

/** The one way to run a semantic query, whoever asks: model → plan → SQL → rows with their receipt. */
export async function runQuery(project: Project, asked: Asked & WantedLimits, signal: AbortSignal) {
  const compiled = await compile(project, asked);
  const { connection, sql, files, plan, dialect, diagnostics, isGuarded } = compiled;
  const warehouse = await project.warehouse(connection, signal);
  const [result, receipt] = await Promise.all([
    warehouse
      .query(sql, queryLimits(project, asked), signal)
      .catch(namedInFiles(diagnostics, files))
      .catch(isGuarded ? withheld : rethrown),
    // Files are read while the warehouse works.
    receiptOf(project, compiled),
  ]);
  const described = result.columns.map((column, index) => {
    const {
      name = column.name,
      type = column.type,
      kind = 'metric',
      grain,
      unit,
    } = plan.columns[index] ?? {};
    return { name, type, kind, grain, unit };
  });
  /** In words, for those who keep it. */
  const outline = async () =>
    (await import('../../semantic/plan/outline.ts')).outlineOf(plan, {
      query: asked.query,
      dialect,
    });
  return { connection, sql, outline, receipt, ...result, columns: described };
}

type Compiled = Awaited<ReturnType<typeof compile>>;

async function compile(project: Project, { connection: asked, query }: Asked) {
  // The planner and its parser load for semantic queries only; plain SQL does without.
  const { emit } = await import('../../semantic/sql/emit.ts');
  const { connection, model, diagnostics, plan } = await planned(project, asked, query);
  const files = [...new Set(plan.receipt.metrics.flatMap((metric) => metric.files))].sort();
  const isGuarded = [...model.datasets.values()].some(({ rows }) => rows.kind === 'guarded');
  return {
    connection,
    sql: emit(plan, model.dialect),
    plan,
    dialect: model.dialect,
    files,
    diagnostics,
    isGuarded,
  };
}

async function receiptOf(project: Project, { connection, plan, files }: Compiled) {
  // A number that is made of a contested one is as much in doubt.
  const named = new Set([...plan.used].map((address) => `metric:${connection}.${address}`));
  // Of what the numbers stand on, beside the metrics themselves: the keys and joins of the datasets.
  const isMeant = ({ subject, kind }: Pick<Conflict, 'subject' | 'kind'>) => {
    const parts = parseSubject(subject);
    const isUsed =
      parts?.connection === connection &&
      files.some((file) => file.endsWith(`/${parts.dataset}.yaml`));
    return named.has(subject) || (isUsed && (kind === 'primary_key' || kind === 'relationship'));
  };
  const [conflicts, leaning, state] = await Promise.all([
    readConflicts(project.dir),
    staleIn(project, connection, files),
    commitState(project.dir, files),
  ]);
  const contested = conflicts.filter(isMeant).map(({ subject }) => subject);
  const stale = leaning.filter((subject) =>
    isMeant({ subject, kind: subject.split(':')[0] ?? '' }),
  );
  return { ...plan.receipt, files, contested, stale, ...state };
}

/** What leans on something that has changed, in the datasets of these files. */
async function staleIn(
  project: Project,
  connection: string,
  files: readonly string[],
): Promise<string[]> {
  const staleness = await openStaleness(project);
  const datasets = files.flatMap((file) => /\/([^/]+)\.ya?ml$/.exec(file)?.[1] ?? []);
  const found = await Promise.all(
    datasets.map((dataset) => staleness.ofDataset(connection, dataset)),
  );
  return found.flatMap((one) => [...one.keys()]).sort();
}

/** On the connection that was named or is the only one; else on the one of several that alone can answer. */
async function planned(project: Project, asked: string | undefined, query: SemanticQuery) {
  const names = project.warehouses;
  if (asked !== undefined || names.length < 2)
    return planOn(project, project.connection(asked).name, query);
  const tried = await Promise.allSettled(names.map((name) => planOn(project, name, query)));
  const fitting = tried.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const [only] = fitting;
  if (only !== undefined && fitting.length === 1) return only;
  if (only !== undefined) {
    const choices = fitting.map(({ connection }) => connection);
    const options = {
      hint: `one of ${choices.join(', ')}`,
      exitCode: 2,
      details: { choices },
    } as const;
    throw new UserError(
      'connection_required',
      `${choices.join(' and ')} can each answer this; which one?`,
      options,
    );
  }
  // What is wrong is told by the one connection that has the datasets which are spoken of, else by one that has a guess.
  const about = await Promise.all(
    names.map(async (name) => mentions(query, await project.model(name))),
  );
  const failures = tried.flatMap((one) =>
    one.status === 'rejected' && one.reason instanceof UserError ? [one.reason] : [],
  );
  const meant = failures.filter((_, index) => about[index] === true);
  if (meant.length === 1 && failures.length === names.length) throw meant[0];
  const guess = failures.find(
    ({ code, hint }) => code === 'unknown_name' && hint?.startsWith('Did you mean'),
  );
  if (meant.length === 0 && guess !== undefined) throw guess;
  return planOn(project, project.connection().name, query);
}

function mentions(query: SemanticQuery, { model }: LoadedModel): boolean {
  const words = JSON.stringify(query).match(/[\p{L}\p{N}_]+(?=\.)/gu) ?? [];
  return words.some((word) => model.datasets.has(word) || model.excluded.has(word));
}

async function planOn(project: Project, connection: string, query: SemanticQuery) {
  const { plan: planOf } = await import('../../semantic/plan/plan.ts');
  const { model, diagnostics } = await project.model(connection);
  if (model.datasets.size === 0) {
    const hint = model.excluded.size === 0 ? 'ktx ingest' : 'ktx sl validate';
    throw new UserError('no_datasets', `${connection} has no valid dataset to ask.`, { hint });
  }
  return { connection, model, diagnostics, plan: await withAnalyzer(() => planOf(model, query)) };
}

/** For `catch`: a name that the warehouse does not know, and that a file of the model says, is wrong there. */
function namedInFiles(
  diagnostics: readonly Diagnostic[],
  files: readonly string[],
): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof UserError && error.code === 'missing_object')) throw error;
    const { code, message, exitCode, details } = error;
    const about = diagnostics.filter(({ rule, file, message: said }) => {
      return (
        rule === 'unknown_name' &&
        (files.length === 0 || files.includes(file)) &&
        message.includes(said.split(' ').at(-1) ?? said)
      );
    });
    if (about.length === 0) throw error;
    const places = about.map(
      ({ file, line, column, message: said }) => `${file}:${line}:${column}: ${said}`,
    );
    const meant = about.flatMap(({ hint }) => hint ?? []);
    const hint = [...new Set(meant), 'Correct the file; ktx sl validate checks it.'].join(' ');
    throw new UserError(code, [message, ...places].join('\n'), {
      hint,
      exitCode,
      details,
      cause: error,
    });
  };
}

/** For `catch`, where row rules hold: what an engine says of a value that it could not compute may quote a row that they hide. */
function withheld(error: unknown): never {
  if (!(error instanceof UserError && ['query_failed', 'not_a_time_value'].includes(error.code)))
    throw error;
  const { code, exitCode } = error;
  const hint =
    'Check the expressions and casts of the query; ktx sl query --role with a role that sees every row shows the words.';
  throw new UserError(
    code,
    'The warehouse could not run the query; its words are withheld, since row rules hold.',
    { hint, exitCode },
  );
}

function rethrown(error: unknown): never {
  throw error;
}

export function queryLimits({ config }: Project, wanted: WantedLimits = {}): QueryLimits {
  const { max_rows, timeout_seconds } = config.query;
  return {
    maxRows: wanted.maxRows ?? max_rows,
    timeoutMs: (wanted.timeoutSeconds ?? timeout_seconds) * 1000,
  };
}
