import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { openDuckdbRows } from '../duckdb-rows.ts';
import { ApiError } from './api-error.ts';
import { openCatalog, type CatalogOptions } from './catalog.ts';
import { type Job, type JobContext } from './jobs.ts';
import { openLogins, type TestLogins } from './login.ts';
import { answerApi } from './routes.ts';

/** A request that the server got. */
export interface ServedCall {
  readonly method: string;
  /** Below `/bigquery/v2/`, or the whole path of another service. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: string;
  readonly userAgent: string;
}

/** What goes wrong with one request, in place of its answer. */
/** `lost`: it is done, and its answer does not arrive. */
export type Fault =
  | ApiError
  | { readonly answer: unknown }
  | 'lost'
  | 'busy'
  | 'garbage'
  | 'html'
  | 'cut'
  | 'silent'
  | 'reset'
  | 'echo';

export interface BigqueryServerOptions extends Partial<CatalogOptions> {
  /** Fills DuckDB; schemas are datasets. */
  readonly script: string;
  readonly behindViews?: JobContext['behindViews'];
  readonly routines?: readonly string[];
  /** The permissions on tables that the login has beyond reading. */
  readonly permissions?: readonly string[];
  /** The most rows of a page, whatever the client asks for. */
  readonly pageRows?: number;
  /** How long an answer waits for the end of a job, in milliseconds. Default: as asked. */
  readonly longestWait?: number;
}

export interface BigqueryServer {
  readonly origin: string;
  readonly tokenUri: string;
  readonly logins: TestLogins;
  readonly calls: readonly ServedCall[];
  readonly jobs: ReadonlyMap<string, Job>;
  /** Asked for each request; undefined: it is answered. */
  fault: (call: ServedCall) => Fault | undefined;
  /** Runs statements of DuckDB. */
  execute(script: string): Promise<void>;
  /** Rows of DuckDB, to see what has changed. */
  read(sql: string): Promise<readonly (readonly (string | null)[])[]>;
  close(): Promise<void>;
}

export const project = 'shop-1';

/** BigQuery's REST API on a free port of loopback, with DuckDB behind it. */
export async function startBigquery(options: BigqueryServerOptions): Promise<BigqueryServer> {
  const database = await openDuckdbRows(options.script);
  const { datasets = { [project]: ['main'] }, requiredFilters = {} } = options;
  const catalog = openCatalog(database, {
    datasets,
    types: options.types ?? {},
    requiredFilters,
    ingestionPartitioned: options.ingestionPartitioned ?? [],
  });
  await catalog.addViews();
  const logins = openLogins();
  const calls: ServedCall[] = [];
  const jobs = new Map<string, Job>();
  const context: JobContext = {
    database,
    project,
    projects: Object.keys(datasets),
    sizeOf: (name) => catalog.sizeOf(name),
    behindViews: options.behindViews ?? {},
    routines: options.routines ?? [],
    requiredFilters,
  };
  const server = createServer((request, response) => {
    void serve(request, response).catch((error: unknown) => send(response, failureOf(error)));
  });
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const call = await readCall(request);
    calls.push(call);
    const fault = result.fault(call);
    if (fault === 'lost') await answerApi(call, { catalog, context, datasets, jobs, options });
    if (fault !== undefined) return fail(response, fault, request);
    const login = await answerLogin(call, { logins, tokenUri: result.tokenUri, request });
    if (login !== undefined) return send(response, login);
    if (!logins.takes(request))
      throw new ApiError(401, 'authError', 'Request had invalid authentication credentials.');
    send(response, await answerApi(call, { catalog, context, datasets, jobs, options }));
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${port}`;
  const result: BigqueryServer = {
    origin,
    tokenUri: `${origin}/token`,
    logins,
    calls,
    jobs,
    fault: () => undefined,
    execute: (script) => database.execute(script),
    read: async (sql) => (await database.run(sql, { dialect: 'duckdb' })).rows,
    async close() {
      for (const job of jobs.values()) job.cancel('the server ends');
      await Promise.all([...jobs.values()].map(({ done }) => done));
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
      database.close();
    },
  };
  return result;
}

export interface ServedAnswer {
  readonly status: number;
  readonly body: unknown;
}

async function readCall(request: IncomingMessage): Promise<ServedCall> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const url = new URL(request.url ?? '/', 'http://server');
  return {
    method: request.method ?? '',
    path: decodeURIComponent(url.pathname).replace(/^\/bigquery\/v2\//, ''),
    query: url.searchParams,
    body: Buffer.concat(chunks).toString('utf8'),
    userAgent: request.headers['user-agent'] ?? '',
  };
}

interface LoginContext {
  readonly logins: TestLogins;
  readonly tokenUri: string;
  readonly request: IncomingMessage;
}

/** The token endpoint, the metadata server, and the service that impersonates. */
async function answerLogin(
  { path, body }: ServedCall,
  { logins, tokenUri, request }: LoginContext,
): Promise<ServedAnswer | undefined> {
  if (path === '/token') return logins.token(new URLSearchParams(body), tokenUri);
  if (path.startsWith('/computeMetadata/')) {
    if (request.headers['metadata-flavor'] !== 'Google') return { status: 403, body: {} };
    return { status: 200, body: { access_token: logins.issue(), expires_in: 3599 } };
  }
  if (!path.endsWith(':generateAccessToken')) return undefined;
  if (!logins.takes(request)) throw new ApiError(401, 'authError', 'no login');
  const expireTime = new Date(Date.now() + 3_600_000).toISOString();
  return { status: 200, body: { accessToken: logins.issue(), expireTime } };
}

function send(response: ServerResponse, { status, body }: ServedAnswer): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=UTF-8' });
  response.end(JSON.stringify(body));
}

function failureOf(error: unknown): ServedAnswer {
  const known =
    error instanceof ApiError ? error : new ApiError(500, 'backendError', String(error));
  return { status: known.status, body: known.body };
}

function fail(response: ServerResponse, fault: Fault, request: IncomingMessage): void {
  if (fault instanceof ApiError) return send(response, failureOf(fault));
  if (typeof fault !== 'string') return send(response, { status: 200, body: fault.answer });
  switch (fault) {
    case 'busy':
      response.writeHead(503, { 'retry-after': '0' });
      return void response.end('busy');
    case 'garbage':
      response.writeHead(200, { 'content-type': 'application/json' });
      return void response.end('{"jobComplete": "perhaps", "rows": 7');
    case 'html':
      response.writeHead(200, { 'content-type': 'text/html' });
      return void response.end('<html>A hotel wants your room number.</html>');
    case 'cut':
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '5000' });
      response.write('{"jobComplete": true, "rows": [');
      response.socket?.destroySoon();
      return undefined;
    case 'echo':
      response.writeHead(400);
      return void response.end(`not for ${request.headers.authorization}`);
    case 'lost':
    case 'reset':
      response.socket?.resetAndDestroy();
      return undefined;
    case 'silent':
      return undefined;
  }
}
