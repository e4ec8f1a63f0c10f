import type { DuckdbRows, EngineRows } from '../duckdb-rows.ts';
import { ApiError } from './api-error.ts';
import {
  classify,
  mendTranslation,
  type TableName,
  withMetaViews,
  withoutProjects,
} from './statements.ts';
import { wireField, type WireField } from './wire.ts';

export interface JobRequest {
  readonly jobReference?: { readonly jobId?: string; readonly location?: string };
  readonly configuration: {
    readonly dryRun?: boolean;
    readonly jobTimeoutMs?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly query: {
      readonly query: string;
      readonly useLegacySql?: boolean;
      readonly maximumBytesBilled?: string;
      readonly defaultDataset?: { readonly datasetId: string };
    };
  };
}

/** A job of the server, with what became of it. */
export interface Job {
  readonly id: string;
  readonly request: JobRequest;
  readonly created: number;
  readonly statementType: string;
  readonly bytes: number;
  readonly billed: number;
  readonly done: Promise<void>;
  cancel(why: string): void;
  state: 'RUNNING' | 'DONE';
  fields: readonly WireField[];
  result: EngineRows | undefined;
  error: ApiError | undefined;
}

export interface JobContext {
  readonly database: DuckdbRows;
  readonly project: string;
  readonly projects: readonly string[];
  /** What a table takes, in bytes; undefined if there is no such table. */
  readonly sizeOf: (name: TableName) => Promise<number | undefined>;
  /** What a view reads, by `dataset.view`. */
  readonly behindViews: Readonly<Record<string, readonly TableName[]>>;
  /** Functions that people wrote, by their name in a dataset. */
  readonly routines: readonly string[];
  /** Columns that queries must filter, by `dataset.table`. */
  readonly requiredFilters: Readonly<Record<string, string>>;
}

const leastBilled = 10 * 2 ** 20;
export const location = 'EU';

/** What a dry run says, and the check that a run begins with. Throws the API's error. */
export async function planStatement(request: JobRequest, context: JobContext) {
  const {
    query,
    maximumBytesBilled: limit,
    defaultDataset,
    useLegacySql,
  } = request.configuration.query;
  if (useLegacySql !== false)
    throw new ApiError(400, 'invalid', 'ktx never sends legacy SQL to this server.');
  const { project, behindViews, sizeOf } = context;
  const kind = await classify(query, { project, dataset: defaultDataset?.datasetId ?? '' });
  if (kind.statementType !== 'SELECT')
    return { ...kind, bytes: 0, billed: 0, fields: [], routines: [] };
  const tables = kind.tables.flatMap((name) => [
    ...(behindViews[`${name.datasetId}.${name.tableId}`] ?? [name]),
  ]);
  const isMeta = ({ datasetId, tableId }: TableName) =>
    datasetId === 'INFORMATION_SCHEMA' || tableId === '__TABLES__';
  let bytes = 0;
  for (const name of tables) {
    if (isMeta(name)) continue;
    if (!context.projects.includes(name.projectId))
      throw new ApiError(
        403,
        'accessDenied',
        `Access Denied: Table ${shown(name)}: User does not have permission to query table ${shown(name)}, or perhaps it does not exist.`,
      );
    const size = await sizeOf(name);
    if (size === undefined)
      throw new ApiError(
        404,
        'notFound',
        `Not found: Table ${shown(name)} was not found in location ${location}`,
      );
    requireFilter(name, query, context);
    bytes += size;
  }
  const fields = await describe(query, context);
  requireDistinctNames(fields);
  const billed = Math.max(bytes, tables.length * leastBilled);
  if (limit !== undefined && billed > Number(limit) && tables.length > 0)
    throw new ApiError(
      400,
      'bytesBilledLimitExceeded',
      `Query exceeded limit for bytes billed: ${limit}. ${billed} or higher required.`,
    );
  const routines = context.routines.filter((name) => query.includes(`${name}(`));
  return { ...kind, tables, bytes, billed, fields, routines };
}

function shown({ projectId, datasetId, tableId }: TableName): string {
  return `${projectId}:${datasetId}.${tableId}`;
}

function requireFilter(name: TableName, sql: string, { requiredFilters }: JobContext): void {
  const column = requiredFilters[`${name.datasetId}.${name.tableId}`];
  const [, where = ''] = /\bWHERE\b([^]*)/i.exec(sql) ?? [];
  if (column !== undefined && !where.includes(column))
    throw new ApiError(
      400,
      'invalidQuery',
      `Cannot query over table '${name.datasetId}.${name.tableId}' without a filter over column(s) '${column}' that can be used for partition elimination`,
    );
}

function requireDistinctNames(fields: readonly WireField[]): void {
  const names = fields.map(({ name }) => name.toLowerCase());
  const double = names.find((name, index) => names.indexOf(name) !== index);
  if (double !== undefined)
    throw new ApiError(
      400,
      'invalidQuery',
      `Duplicate column names in the result are not supported when a destination table is present. Found duplicate(s): ${double}`,
    );
}

function describe(sql: string, context: JobContext): Promise<readonly WireField[]> {
  return runInDuckdb(sql, context, { wrap: (text) => `DESCRIBE ${text}` }).then(({ rows }) =>
    rows.map(([name, type], index) => ({
      ...wireField({ name: name ?? '', type: type ?? '' }),
      // An expression without a name.
      name: /^[\p{L}_][\p{L}\p{N}_ "'-]*$/u.test(name ?? '') ? (name ?? '') : `f${index}_`,
    })),
  );
}

/** Starts a job. What is wrong with its statement is its error, not that of the request. */
export function startJob(
  { id, request }: { readonly id: string; readonly request: JobRequest },
  context: JobContext,
  plan: {
    readonly statementType: string;
    readonly bytes: number;
    readonly billed: number;
    readonly fields: readonly WireField[];
  },
): Job {
  const abort = new AbortController();
  let reason = '';
  const { query } = request.configuration.query;
  const cancel = (why: string): void => {
    reason = why;
    abort.abort();
  };
  const timeoutMs = Number(request.configuration.jobTimeoutMs ?? 0);
  const timer =
    timeoutMs > 0
      ? setTimeout(() => cancel(`Job timed out after ${timeoutMs} ms`), timeoutMs)
      : undefined;
  const finished = Promise.withResolvers<void>();
  const job: Job = {
    id,
    request,
    created: Date.now(),
    ...plan,
    done: finished.promise,
    cancel,
    state: 'RUNNING',
    result: undefined,
    error: undefined,
  };
  const wrap = (sql: string): string => withJsonCells(sql, plan.fields);
  runInDuckdb(query, context, { wrap, signal: abort.signal })
    .then((rows) => (job.result = rows))
    .catch((error: unknown) => {
      job.error = abort.signal.aborted
        ? new ApiError(400, 'stopped', `Job execution was cancelled: ${reason}`)
        : (error as ApiError);
    })
    .finally(() => {
      clearTimeout(timer);
      job.state = 'DONE';
      finished.resolve();
    });
  return job;
}

/** Arrays and structs as JSON, which the rows of the API are made of. */
function withJsonCells(sql: string, fields: readonly WireField[]): string {
  const isNested = ({ mode, type }: WireField): boolean => mode === 'REPEATED' || type === 'RECORD';
  if (!fields.some(isNested)) return sql;
  const columns = fields.map((field, index) =>
    isNested(field) ? `to_json(c${index})` : `c${index}`,
  );
  return `SELECT ${columns.join(', ')} FROM (${sql}) AS q(${fields.map((_, index) => `c${index}`).join(', ')})`;
}

async function runInDuckdb(
  sql: string,
  { database, projects }: JobContext,
  { wrap, signal }: { readonly wrap: (sql: string) => string; readonly signal?: AbortSignal },
): Promise<EngineRows> {
  const text = withMetaViews(withoutProjects(sql, projects)).trim().replace(/;$/, '');
  try {
    return await database.run(text, {
      dialect: 'bigquery',
      rewrite: (translated) => wrap(mendTranslation(translated)),
      signal,
    });
  } catch (error) {
    throw apiErrorOf(error instanceof Error ? error.message : String(error));
  }
}

/** DuckDB's errors in the words of BigQuery. */
function apiErrorOf(message: string): ApiError {
  const invalid = (text: string): ApiError => new ApiError(400, 'invalidQuery', text);
  const [, column] = /Referenced column "([^"]+)" not found/.exec(message) ?? [];
  if (column !== undefined) return invalid(`Unrecognized name: ${column} at [1:8]`);
  const [, table] = /Table with name (\S+) does not exist/.exec(message) ?? [];
  if (table !== undefined)
    return new ApiError(
      404,
      'notFound',
      `Not found: Table ${table} was not found in location ${location}`,
    );
  if (/GROUP BY clause cannot contain aggregates/.test(message))
    return invalid('Aggregate function SUM not allowed in GROUP BY at [1:35]');
  if (/cannot be translated|syntax error/.test(message))
    return invalid(`Syntax error: Unexpected keyword at [1:1]`);
  return invalid(message.split('\n')[0] ?? message);
}
