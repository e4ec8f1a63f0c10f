import type { Conflict } from '../../context/compile/conflicts.ts';
import { parseSubject } from '../../context/claims/subject.ts';
import type { Diagnostic } from '../../lib/diagnostic.ts';
import { shortHash } from '../../lib/hash.ts';
import { UserError } from '../../lib/error.ts';
import type { SemanticModel } from '../../semantic/model/model.ts';
import type { Plan } from '../../semantic/plan/plan.ts';
import type { TrialPlans } from '../../semantic/query/groupings.ts';
import type { SemanticQuery } from '../../semantic/query/query.ts';
import { withAnalyzer } from '../../sql/analyzer.ts';
import type { Dialect } from '../../sql/dialect.ts';
import { warnOfComingPeriods } from '../../warehouse/result/coming-periods.ts';
import { warnOfOddNumbers } from '../../warehouse/result/odd-numbers.ts';
import { isLimitWarning } from '../../warehouse/spending.ts';
import type { QueryLimits } from '../../warehouse/warehouse.ts';
import type { KeyProof } from '../keys/key-proofs.ts';
import { noteUndeclaredValues, noteUnscannedValues } from './values.ts';
import { readCommitState } from '../open/commit-state.ts';
import type { Project } from '../open/open.ts';
import { noteUnknownConflicts, readConflicts } from '../review/conflicts.ts';
import { openStaleness } from '../review/stale.ts';
import type { VerifiedMark } from '../verified/find-verified.ts';
import { withoutSubjects } from './query-subjects.ts';

interface QueryRequest {
  /** Chosen from the query if undefined: the only warehouse, or the only one that can answer. */
  readonly connection?: string | undefined;
  readonly query: SemanticQuery;
  /** The saved query that it is, perhaps changed; the receipt names it. */
  readonly saved?: { readonly name: string; readonly file: string } | undefined;
  /** The eval case that it passed as it stands; the receipt names it. */
  readonly verified?: VerifiedMark | undefined;
}

/** Limits of one call, instead of the configured ones. */
export type RequestedLimits = Readonly<
  Partial<Record<'maxRows' | 'timeoutSeconds' | 'maxBytes', number | undefined>>
>;

export type QueryAnswer = Awaited<ReturnType<typeof runQuery>>;
/** Where the numbers come from: one entry per metric, and the files with their commit. */
export type QueryReceipt = QueryAnswer['receipt'];

/**
 * Plans and compiles a semantic query without running it: an outline of the plan, the SQL and the
 * receipt.
 */
export async function planQuery(project: Project, request: QueryRequest) {
  const compiled = await compileProven(project, request);
  const { connection, sql } = compiled;
  const [plan, receipt] = await Promise.all([
    describePlan(compiled),
    readQueryReceipt(project, compiled),
  ]);
  return { connection, plan, sql, receipt };
}

/** Throws if the query has no answer for the role. Reads the model alone. */
export async function requirePlan(project: Project, request: QueryRequest): Promise<void> {
  const { connection, query } = withoutSubjects(request);
  await planOnConnection(project, connection, query);
}

/**
 * Runs a semantic query. The CLI, MCP, chat and eval all come here: model → plan → SQL → rows with
 * their receipt.
 */
export async function runQuery(
  project: Project,
  request: QueryRequest & RequestedLimits,
  signal: AbortSignal,
) {
  const compiled = await compileProven(project, request, signal);
  const { connection, sql, plan } = compiled;
  const warehouse = await project.warehouse(connection, signal);
  const [result, receipt] = await Promise.all([
    warehouse.query(sql, resolveQueryLimits(project, request), signal).catch((error: unknown) => {
      throw queryFailure(error, compiled);
    }),
    // The receipt reads files while the warehouse works.
    readQueryReceipt(project, compiled),
  ]);
  const columns = result.columns.map((column, index) => {
    const planned = plan.columns[index];
    return {
      name: planned?.name ?? column.name,
      type: planned?.type ?? column.type,
      kind: planned?.kind ?? 'metric',
      grain: planned?.grain,
      unit: planned?.unit,
    };
  });
  /** The plan in words, made only if a caller records it. */
  const outline = () => describePlan(compiled);
  // With values of the last scan: for people, not for models.
  const unscanned = () => noteUnscannedValues(project, connection, plan.compared);
  const engine = compiled.isGuarded ? withheldWarnings(result.warnings) : result.warnings;
  const odd = warnOfOddNumbers(columns, result.rows);
  const warnings = [...engine, ...odd, ...warnOfComingPeriods(columns, result.rows)];
  return { connection, sql, outline, unscanned, receipt, ...result, columns, warnings };
}

interface PlannedQuery {
  readonly connection: string;
  readonly model: SemanticModel;
  readonly plan: Plan;
  readonly dialect: Dialect;
  /** Faults of the connection's model files. */
  readonly diagnostics: readonly Diagnostic[];
  /** True if row rules hide rows from the role. */
  readonly isGuarded: boolean;
}

interface CompiledQuery extends PlannedQuery, Pick<QueryRequest, 'saved' | 'verified'> {
  readonly query: SemanticQuery;
  readonly sql: string;
  /** What is known about the keys that the numbers rely on. */
  readonly proofs: readonly KeyProof[];
  /** The model files that the metrics come from, sorted. */
  readonly files: readonly string[];
}

/**
 * Compiles a query whose keys hold. With a signal it connects, to count what is not known about
 * them; otherwise that stays assumed. Throws `contradicted_key`, unless the query allows it: then
 * one row per key is joined.
 */
async function compileProven(
  project: Project,
  request: QueryRequest,
  signal?: AbortSignal,
): Promise<CompiledQuery> {
  const { connection: requested, query } = withoutSubjects(request);
  const { saved, verified } = request;
  // The planner and its parser load with the first semantic query; plain SQL does not need them.
  const [{ emit }, { proveKeys }, { acceptContradicted }] = await Promise.all([
    import('../../semantic/emit/emit.ts'),
    import('../keys/key-proofs.ts'),
    import('../keys/contradicted-keys.ts'),
  ]);
  const planned = await planOnConnection(project, requested, query).catch(
    async (error: unknown) => {
      const { explainRefusal } = await import('../review/explain-refusal.ts');
      throw explainRefusal(project, error, { query, saved });
    },
  );
  const { connection, model, plan: first, dialect } = planned;
  const keys = first.assumes;
  const counting =
    signal === undefined || keys.length === 0
      ? undefined
      : { warehouse: await project.warehouse(connection, signal), signal, timeoutMs: 5_000 };
  const proofs = await proveKeys(project, { connection, model, keys, counting });
  const contradicted = acceptContradicted({ proofs, keys, model, query });
  const plan = contradicted.size === 0 ? first : await createModelPlan(model, query, contradicted);
  const files = [...new Set(plan.receipt.metrics.flatMap((metric) => metric.files))].sort();
  return { ...planned, query, saved, verified, plan, proofs, sql: emit(plan, dialect), files };
}

async function createModelPlan(
  model: SemanticModel,
  query: SemanticQuery,
  contradicted?: ReadonlySet<string>,
): Promise<Plan> {
  const { createPlan } = await import('../../semantic/plan/plan.ts');
  return withAnalyzer(() => createPlan(model, query, contradicted));
}

/** Runs what tries many queries of one model, without running any in the warehouse. */
export async function withTrialPlans<Result>(
  model: SemanticModel,
  run: (plans: TrialPlans) => Result,
): Promise<Result> {
  const { createPlan, createPlanToTry } = await import('../../semantic/plan/plan.ts');
  const plans: TrialPlans = {
    tried: (query) => createPlanToTry(model, query),
    explained: (query) => createPlan(model, query),
  };
  return withAnalyzer(() => run(plans));
}

/** On the named connection, on the only one, or on the only one of several that can answer. */
async function planOnConnection(
  project: Project,
  connection: string | undefined,
  query: SemanticQuery,
): Promise<PlannedQuery> {
  const names = project.warehouses;
  if (connection !== undefined || names.length < 2)
    return planOn(project, project.connection(connection).name, query);
  const attempts = await Promise.allSettled(names.map((name) => planOn(project, name, query)));
  const plans = attempts.flatMap((attempt) =>
    attempt.status === 'fulfilled' ? [attempt.value] : [],
  );
  const [only, ...others] = plans;
  if (only !== undefined && others.length === 0) return only;
  if (only !== undefined) throw severalCanAnswer(plans.map((planned) => planned.connection));
  const failures = attempts.flatMap((attempt) =>
    attempt.status === 'rejected' ? [attempt.reason as unknown] : [],
  );
  const failure = await mostUsefulFailure(project, query, failures);
  if (failure !== undefined) throw failure;
  // Throws: the query names none of several warehouses.
  return planOn(project, project.connection().name, query);
}

async function planOn(
  project: Project,
  connection: string,
  query: SemanticQuery,
): Promise<PlannedQuery> {
  const { model, diagnostics } = await project.model(connection);
  if (model.datasets.size === 0) {
    const hint = model.excluded.size === 0 ? 'ktx ingest' : 'ktx sl validate';
    throw new UserError('no_datasets', `${connection} has no valid dataset to query.`, { hint });
  }
  const isGuarded = [...model.datasets.values()].some(({ rows }) => rows.kind === 'guarded');
  const { dialect } = model;
  const plan = await createModelPlan(model, query);
  return { connection, model, plan, dialect, diagnostics, isGuarded };
}

function severalCanAnswer(choices: readonly string[]): UserError {
  return new UserError(
    'connection_required',
    `${choices.join(' and ')} can each answer this query. Name one.`,
    { hint: `one of ${choices.join(', ')}`, exitCode: 2, details: { choices } },
  );
}

/**
 * Of the failures, one per warehouse: that of the only warehouse whose datasets the query names,
 * else one with a suggestion. Undefined if none of them says more than the others.
 */
async function mostUsefulFailure(
  project: Project,
  query: SemanticQuery,
  failures: readonly unknown[],
): Promise<unknown> {
  const bug = failures.find((failure) => !(failure instanceof UserError));
  if (bug !== undefined) return bug;
  const isNamed = await Promise.all(
    project.warehouses.map((name) => namesDatasetOf(project, name, query)),
  );
  const ofNamed = failures.filter((_, index) => isNamed[index] === true);
  if (ofNamed.length === 1) return ofNamed[0];
  if (ofNamed.length > 1) return undefined;
  return failures.find(
    (failure) =>
      failure instanceof UserError &&
      failure.code === 'unknown_name' &&
      failure.hint?.startsWith('Did you mean'),
  );
}

async function namesDatasetOf(
  project: Project,
  connection: string,
  query: SemanticQuery,
): Promise<boolean> {
  const { model } = await project.model(connection);
  const namesBeforeDots = JSON.stringify(query).match(/[\p{L}\p{N}_]+(?=\.)/gu) ?? [];
  return namesBeforeDots.some((name) => model.datasets.has(name) || model.excluded.has(name));
}

async function describePlan({ plan, dialect, query }: CompiledQuery) {
  const { outlinePlan } = await import('../../semantic/emit/outline.ts');
  return outlinePlan(plan, { query, dialect });
}

async function readQueryReceipt(
  project: Project,
  { connection, plan, files, proofs, saved, verified }: CompiledQuery,
) {
  // A number made of a contested metric is contested as well.
  const metrics = new Set([...plan.used].map((address) => `metric:${connection}.${address}`));
  const isInFiles = (dataset: string) => files.some((file) => file.endsWith(`/${dataset}.yaml`));
  // Beside the metrics, the numbers rest on the keys and joins of their datasets.
  const isRelevant = ({ subject, kind }: Pick<Conflict, 'subject' | 'kind'>) => {
    if (metrics.has(subject)) return true;
    if (kind !== 'primary_key' && kind !== 'relationship') return false;
    const parts = parseSubject(subject);
    return parts?.connection === connection && isInFiles(parts.dataset);
  };
  const [conflicts, unknown, staleSubjects, state] = await Promise.all([
    readConflicts(project.dir),
    noteUnknownConflicts(project.dir),
    staleSubjectsIn(project, connection, files),
    readCommitState(project.dir, saved === undefined ? files : [...files, saved.file]),
  ]);
  const contested = conflicts.filter(isRelevant).map(({ subject }) => subject);
  const kindOf = (subject: string) => subject.split(':')[0] ?? '';
  const stale = staleSubjects.filter((subject) => isRelevant({ subject, kind: kindOf(subject) }));
  const origin = {
    ...(saved === undefined ? {} : { saved: { name: saved.name, file: saved.file } }),
    ...(verified === undefined ? {} : { verified }),
  };
  const ofFiles = unknown === undefined ? [] : [unknown];
  const notes = [...plan.receipt.notes, ...noteUndeclaredValues(plan.compared), ...ofFiles];
  const marks = { contested, stale, ...state };
  return { ...origin, ...plan.receipt, notes, keys: proofs, files, ...marks };
}

/** The stale subjects of the datasets in these files, sorted. */
async function staleSubjectsIn(
  project: Project,
  connection: string,
  files: readonly string[],
): Promise<string[]> {
  const staleness = await openStaleness(project);
  const datasets = files.flatMap((file) => /\/([^/]+)\.ya?ml$/.exec(file)?.[1] ?? []);
  const reasons = await Promise.all(
    datasets.map((dataset) => staleness.ofDataset(connection, dataset)),
  );
  return reasons.flatMap((bySubject) => [...bySubject.keys()]).sort();
}

/**
 * The error to show: with the place of a wrong name in the model files, and without words that row
 * rules hide.
 */
function queryFailure(error: unknown, { diagnostics, files, isGuarded }: CompiledQuery): unknown {
  if (!(error instanceof UserError)) return error;
  if (error.code === 'missing_object') return withModelPlaces(error, diagnostics, files);
  const isAboutValues = ['query_failed', 'not_a_time_value', 'not_a_number_value'].includes(
    error.code,
  );
  return isGuarded && isAboutValues ? withheldFailure(error) : error;
}

/** Adds the places in the model files that use a name which the warehouse does not know. */
function withModelPlaces(
  error: UserError,
  diagnostics: readonly Diagnostic[],
  files: readonly string[],
): UserError {
  const { code, message, exitCode, details } = error;
  const isAbout = ({ rule, file, message: fault }: Diagnostic) =>
    rule === 'unknown_name' &&
    (files.length === 0 || files.includes(file)) &&
    message.includes(fault.split(' ').at(-1) ?? fault);
  const causes = diagnostics.filter(isAbout);
  if (causes.length === 0) return error;
  const places = causes.map(
    ({ file, line, column, message: fault }) => `${file}:${line}:${column}: ${fault}`,
  );
  const hints = causes.flatMap(({ hint }) => hint ?? []);
  const hint = [...new Set(hints), 'Correct the file; ktx sl validate checks it.'].join(' ');
  const options = { hint, exitCode, details, cause: error };
  return new UserError(code, [message, ...places].join('\n'), options);
}

function withheldWarnings(warnings: readonly string[]): readonly string[] {
  const own = warnings.filter(isLimitWarning);
  if (own.length === warnings.length) return warnings;
  const text =
    'The warehouse warned about the result. Its message is withheld because row rules apply.';
  return [text, ...own];
}

/**
 * Under row rules, the warehouse's message about a value may quote a row that the role must not
 * see.
 */
function withheldFailure({ code, exitCode }: UserError): UserError {
  return new UserError(
    code,
    'The warehouse could not run the query. Its message is withheld because row rules apply.',
    {
      hint:
        'Check the expressions and casts of the query. ' +
        'With --role and a role that sees every row, ktx sl query shows the message.',
      exitCode,
    },
  );
}

/** The limits of the request. Those that it does not give come from `ktx.yaml`. */
export function resolveQueryLimits(
  { config, role, person, allowedBytes }: Project,
  requested: RequestedLimits = {},
): QueryLimits {
  const { max_rows, timeout_seconds } = config.query;
  return {
    maxRows: requested.maxRows ?? max_rows,
    timeoutMs: (requested.timeoutSeconds ?? timeout_seconds) * 1000,
    maxBytes: requested.maxBytes ?? allowedBytes,
    asker: describeAsker(role, person),
  };
}

/** The role as it is; the name of a login can be that of a person, so its hash stands for it. */
function describeAsker(role: string | undefined, name: string | undefined): string | undefined {
  const parts = [
    ...(role === undefined ? [] : [`role=${role}`]),
    ...(name === undefined ? [] : [`login=${shortHash(name)}`]),
  ];
  return parts.length === 0 ? undefined : parts.join(' ');
}
