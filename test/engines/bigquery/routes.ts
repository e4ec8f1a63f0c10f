import { ApiError } from './api-error.ts';
import type { TestCatalog } from './catalog.ts';
import {
  type Job,
  type JobContext,
  type JobRequest,
  location,
  planStatement,
  startJob,
} from './jobs.ts';
import { serviceAccount } from './login.ts';
import type { BigqueryServerOptions, ServedAnswer, ServedCall } from './server.ts';
import { wireRows } from './wire.ts';

interface RouteContext {
  readonly catalog: TestCatalog;
  readonly context: JobContext;
  readonly datasets: Readonly<Record<string, readonly string[]>>;
  readonly jobs: Map<string, Job>;
  readonly options: BigqueryServerOptions;
}

/** Answers a call of the API. Throws `ApiError`. */
export async function answerApi(call: ServedCall, route: RouteContext): Promise<ServedAnswer> {
  const [root, projectId = '', collection = '', ...rest] = call.path.split('/');
  const isProject = root === 'projects';
  if (isProject && collection === 'jobs') return answerJobs(rest, call, route);
  if (isProject && collection === 'queries')
    return call.method === 'POST'
      ? queryAtOnce(call, route)
      : readResults(rest[0] ?? '', call.query, route);
  if (isProject && collection === 'datasets')
    return answerDatasets([projectId, ...rest], call, route);
  throw new ApiError(404, 'notFound', `no such path: ${call.path}`);
}

async function answerJobs(
  [id = '', action]: readonly string[],
  call: ServedCall,
  route: RouteContext,
): Promise<ServedAnswer> {
  if (call.method === 'POST')
    return action === 'cancel' ? cancelJob(id, route) : insertJob(call, route);
  return id === '' ? listJobs(call, route) : describeJob(id, route);
}

async function answerDatasets(
  [projectId = '', datasetId = '', , tableId = '']: readonly string[],
  call: ServedCall,
  route: RouteContext,
): Promise<ServedAnswer> {
  if (datasetId === '') return listDatasets(projectId, call, route);
  if (tableId.endsWith(':testIamPermissions')) return testPermissions(call, route);
  const place = `${projectId}:${datasetId}`;
  if (!(route.datasets[projectId] ?? []).includes(datasetId))
    throw new ApiError(404, 'notFound', `Not found: Dataset ${place}`);
  if (tableId === '') return listTables({ projectId, datasetId }, call, route);
  const table = await route.catalog.describe(projectId, datasetId, tableId);
  if (table === undefined)
    throw new ApiError(404, 'notFound', `Not found: Table ${place}.${tableId}`);
  return { status: 200, body: table };
}

async function insertJob({ body }: ServedCall, route: RouteContext): Promise<ServedAnswer> {
  const request = JSON.parse(body) as JobRequest;
  const { context, jobs } = route;
  if (request.configuration.dryRun === true) {
    const plan = await planStatement(request, context);
    const query = {
      statementType: plan.statementType,
      totalBytesProcessed: String(plan.bytes),
      totalBytesProcessedAccuracy: 'PRECISE',
      totalBytesBilled: '0',
      cacheHit: false,
      schema: { fields: plan.fields },
      ...(plan.tables.length > 0 && { referencedTables: plan.tables.slice(0, 50) }),
      ...(plan.routines.length > 0 && {
        referencedRoutines: plan.routines.map((name) => ({
          projectId: context.project,
          datasetId: name.split('.')[0],
          routineId: name.split('.')[1],
        })),
      }),
    };
    return {
      status: 200,
      body: {
        kind: 'bigquery#job',
        jobReference: { projectId: context.project, location },
        status: { state: 'DONE' },
        statistics: {
          creationTime: String(Date.now()),
          totalBytesProcessed: String(plan.bytes),
          query,
        },
      },
    };
  }
  const id = request.jobReference?.jobId ?? `job_${crypto.randomUUID()}`;
  if (jobs.has(id))
    throw new ApiError(
      409,
      'duplicate',
      `Already Exists: Job ${context.project}:${location}.${id}`,
    );
  const job = startJob({ id, request }, context, await planStatement(request, context));
  jobs.set(id, job);
  return { status: 200, body: resource(job, context) };
}

function resource(job: Job, { project }: JobContext) {
  const { id, state, error, request, created, statementType, bytes, billed } = job;
  const isDone = state === 'DONE';
  return {
    kind: 'bigquery#job',
    id: `${project}:${location}.${id}`,
    jobReference: { projectId: project, jobId: id, location },
    user_email: serviceAccount,
    configuration: { jobType: 'QUERY', ...request.configuration },
    status: {
      state,
      ...(error !== undefined && { errorResult: error.proto, errors: [error.proto] }),
    },
    statistics: {
      creationTime: String(created),
      startTime: String(created),
      ...(isDone && {
        endTime: String(created + 1),
        totalSlotMs: '42',
        totalBytesProcessed: String(bytes),
      }),
      query: {
        statementType,
        ...(isDone && {
          totalBytesProcessed: String(bytes),
          totalBytesBilled: String(billed),
          totalSlotMs: '42',
          cacheHit: false,
        }),
      },
    },
  };
}

function jobNamed(id: string, { jobs, context }: RouteContext): Job {
  const job = jobs.get(id);
  if (job === undefined)
    throw new ApiError(404, 'notFound', `Not found: Job ${context.project}:${id}`);
  return job;
}

function describeJob(id: string, route: RouteContext): ServedAnswer {
  return { status: 200, body: resource(jobNamed(id, route), route.context) };
}

function cancelJob(id: string, route: RouteContext): ServedAnswer {
  const job = jobNamed(id, route);
  job.cancel('User requested cancellation');
  return {
    status: 200,
    body: { kind: 'bigquery#jobCancelResponse', job: resource(job, route.context) },
  };
}

function listJobs({ query }: ServedCall, { jobs, context }: RouteContext): ServedAnswer {
  const all = [...jobs.values()].filter(({ state }) => state === 'DONE');
  const size = Number(query.get('maxResults') ?? 50);
  const start = Number(query.get('pageToken') ?? 0);
  const page = all.slice(start, start + size);
  const rest = start + size < all.length ? { nextPageToken: String(start + size) } : {};
  return { status: 200, body: { jobs: page.map((job) => resource(job, context)), ...rest } };
}

/** The official client asks so, for one round trip. */
async function queryAtOnce(call: ServedCall, route: RouteContext): Promise<ServedAnswer> {
  const { query, useLegacySql, maxResults, timeoutMs, formatOptions, defaultDataset } = JSON.parse(
    call.body,
  ) as {
    query: string;
    useLegacySql?: boolean;
    maxResults?: number;
    timeoutMs?: number;
    formatOptions?: { useInt64Timestamp?: boolean };
    defaultDataset?: { datasetId: string };
  };
  const request: JobRequest = {
    configuration: {
      query: {
        query,
        useLegacySql: useLegacySql ?? true,
        ...(defaultDataset && { defaultDataset }),
      },
    },
  };
  const id = `job_${crypto.randomUUID()}`;
  const job = startJob({ id, request }, route.context, await planStatement(request, route.context));
  route.jobs.set(id, job);
  const asked = new URLSearchParams({
    timeoutMs: String(timeoutMs ?? 10_000),
    'formatOptions.useInt64Timestamp': String(formatOptions?.useInt64Timestamp ?? false),
    ...(maxResults !== undefined && { maxResults: String(maxResults) }),
  });
  return readResults(id, asked, route);
}

async function readResults(
  id: string,
  query: URLSearchParams,
  route: RouteContext,
): Promise<ServedAnswer> {
  const job = jobNamed(id, route);
  const { options, context } = route;
  const wait = Math.min(Number(query.get('timeoutMs') ?? 10_000), options.longestWait ?? Infinity);
  await endOrWait(job, wait);
  const { error, result, fields } = job;
  const jobReference = { projectId: context.project, jobId: id, location };
  const kind = 'bigquery#getQueryResultsResponse';
  if (error !== undefined) throw error;
  if (result === undefined)
    return { status: 200, body: { kind, jobReference, jobComplete: false } };
  const start = Number((query.get('pageToken') ?? 'after-0').replace('after-', ''));
  const asked = Number(query.get('maxResults') ?? 100_000);
  const size = Math.min(asked, options.pageRows ?? asked);
  const hasInt64 = query.get('formatOptions.useInt64Timestamp') === 'true';
  const rows = wireRows(
    { ...result, rows: result.rows.slice(start, start + size) },
    fields,
    hasInt64,
  );
  const hasMore = start + size < result.rows.length;
  return {
    status: 200,
    body: {
      kind,
      etag: 'x',
      jobReference,
      jobComplete: true,
      schema: { fields },
      totalRows: String(result.rows.length),
      ...(rows.length > 0 && { rows }),
      ...(hasMore && { pageToken: `after-${start + size}` }),
      totalBytesProcessed: String(job.bytes),
      cacheHit: false,
    },
  };
}

async function endOrWait(job: Job, milliseconds: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const waited = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await Promise.race([job.done, waited]);
  clearTimeout(timer);
}

function listDatasets(
  projectId: string,
  { query }: ServedCall,
  { datasets }: RouteContext,
): ServedAnswer {
  const all = datasets[projectId] ?? [];
  const { page, rest } = pageOf(all, query);
  return {
    status: 200,
    body: {
      kind: 'bigquery#datasetList',
      ...(page.length > 0 && {
        datasets: page.map((datasetId) => ({
          kind: 'bigquery#dataset',
          id: `${projectId}:${datasetId}`,
          datasetReference: { projectId, datasetId },
          location,
        })),
      }),
      ...rest,
    },
  };
}

async function listTables(
  { projectId, datasetId }: { readonly projectId: string; readonly datasetId: string },
  { query }: ServedCall,
  { catalog }: RouteContext,
): Promise<ServedAnswer> {
  const all = await catalog.listTables(datasetId);
  const { page, rest } = pageOf(all, query);
  return {
    status: 200,
    body: {
      kind: 'bigquery#tableList',
      ...(page.length > 0 && {
        tables: page.map(({ table: tableId, type }) => ({
          kind: 'bigquery#table',
          id: `${projectId}:${datasetId}.${tableId}`,
          tableReference: { projectId, datasetId, tableId },
          type,
          creationTime: '1764300000000',
        })),
      }),
      totalItems: all.length,
      ...rest,
    },
  };
}

function pageOf<T>(all: readonly T[], query: URLSearchParams) {
  const size = Number(query.get('maxResults') ?? 50);
  const start = Number(query.get('pageToken') ?? 0);
  const hasMore = start + size < all.length;
  return {
    page: all.slice(start, start + size),
    rest: hasMore ? { nextPageToken: String(start + size) } : {},
  };
}

function testPermissions({ body }: ServedCall, { options }: RouteContext): ServedAnswer {
  const { permissions } = JSON.parse(body) as { permissions: string[] };
  const held = permissions.filter((name) => options.permissions?.includes(name) ?? false);
  return { status: 200, body: held.length > 0 ? { permissions: held } : {} };
}
