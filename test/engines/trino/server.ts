import {
  createServer as createPlainServer,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { openDuckdbRows } from '../duckdb-rows.ts';
import { TrinoError, trinoErrorOf } from './errors.ts';
import { metadataScript } from './metadata.ts';
import { openStatements, type StatementAnswer } from './statements.ts';
import { describeColumn, valueJson } from './values.ts';

interface TrinoServerOptions {
  /** SQL of DuckDB; its database is the catalog `memory`, with the schema `main`. */
  readonly script?: string;
  /** What of a statement the user and role of a request may see. */
  readonly secure?: (sql: string, headers: IncomingMessage['headers']) => string;
  readonly tls?: { readonly key: string; readonly cert: string };
  /** Undefined: everyone who names a user comes in. */
  readonly login?:
    | { readonly user: string; readonly password: string }
    | { readonly token: string };
}

interface TrinoRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  /** The statement of a POST, or that of the page. */
  readonly sql: string;
}

/** Answers a request in place of the server; undefined leaves it alone. */
type Fault = (request: TrinoRequest, response: ServerResponse) => boolean;

export interface TrinoServer {
  readonly origin: string;
  /** Every request, in order. */
  readonly requests: TrinoRequest[];
  /** Can be changed while it runs. */
  readonly rules: {
    mayWrite: boolean;
    hasStatistics: boolean;
    rowsPerPage: number;
    fault: Fault | undefined;
  };
  /** The statements that run now. */
  running(): readonly string[];
  openTransactions(): number;
  execute(script: string): Promise<void>;
  close(): Promise<void>;
}

interface Query {
  readonly id: string;
  readonly slug: string;
  readonly sql: string;
  readonly abort: AbortController;
  readonly start: () => void;
  readonly done: Promise<void>;
  answer?: StatementAnswer;
  error?: TrinoError;
  hasStarted: boolean;
  headersSent: boolean;
}

/** Speaks the client protocol of Trino as its documentation and recorded sessions have it. */
export async function startTrino(options: TrinoServerOptions = {}): Promise<TrinoServer> {
  const duckdb = await openDuckdbRows(`${metadataScript};${options.script ?? ''}`);
  const rules: TrinoServer['rules'] = {
    mayWrite: false,
    hasStatistics: true,
    rowsPerPage: 1000,
    fault: undefined,
  };
  const statements = openStatements(duckdb, () => rules);
  const queries = new Map<string, Query>();
  const requests: TrinoRequest[] = [];
  let origin = '';

  const handle = (request: IncomingMessage, response: ServerResponse, body: string): void => {
    const path = request.url ?? '';
    const query = queries.get(path.split('/')[4] ?? '');
    const sql = request.method === 'POST' ? body : (query?.sql ?? '');
    const seen = { method: request.method ?? '', path, headers: request.headers, sql };
    requests.push(seen);
    if (rules.fault?.(seen, response) === true) return;
    if (!isAdmitted(request, options.login)) sendText(response, 401, 'Unauthorized');
    else if (request.method === 'POST' && path === '/v1/statement')
      sendQueued(response, openQuery(body, request), 0);
    else if (query === undefined || path.split('/')[5] !== query.slug)
      sendText(response, 404, 'Query not found');
    else if (request.method === 'DELETE') {
      query.abort.abort();
      response.writeHead(204).end();
    } else void followQuery(path, query, response);
  };

  const openQuery = (sql: string, request: IncomingMessage): Query => {
    const id = `20240306_204600_${String(queries.size).padStart(5, '0')}_ktxtx`;
    const started = Promise.withResolvers<void>();
    const abort = new AbortController();
    const query: Query = {
      id,
      slug: `y${crypto.randomUUID().replaceAll('-', '')}`,
      sql,
      abort,
      start: () => started.resolve(),
      done: started.promise.then(() => runQuery(query, request)),
      hasStarted: false,
      headersSent: false,
    };
    queries.set(id, query);
    return query;
  };

  const runQuery = async (query: Query, request: IncomingMessage): Promise<void> => {
    query.hasStarted = true;
    const session = sessionOf(request);
    const seconds = Number(/^(\d+)s$/.exec(session.get('query_max_run_time') ?? '')?.[1] ?? 3600);
    const limit = setTimeout(() => {
      query.error = new TrinoError(
        'EXCEEDED_TIME_LIMIT',
        `Query exceeded maximum time limit of ${seconds}.00s`,
      );
      query.abort.abort();
    }, seconds * 1000);
    const transaction = request.headers['x-trino-transaction-id'];
    try {
      query.answer = await statements.run(
        options.secure?.(query.sql, request.headers) ?? query.sql,
        {
          transaction: typeof transaction === 'string' ? transaction : undefined,
          session,
          signal: query.abort.signal,
        },
      );
    } catch (error) {
      query.error ??= trinoErrorOf(error);
    } finally {
      clearTimeout(limit);
    }
  };

  const followQuery = async (
    path: string,
    query: Query,
    response: ServerResponse,
  ): Promise<void> => {
    const [, , , stage, , , page = '0'] = path.split('/');
    query.start();
    if (stage === 'queued' && Number(page) < 2) return sendQueued(response, query, Number(page));
    const isDone = await Promise.race([
      query.done.then(() => true),
      new Promise<false>((resolve) => setTimeout(() => resolve(false), 1000).unref()),
    ]);
    const number = stage === 'queued' ? 0 : Number(page);
    if (isDone) sendPage(response, query, number);
    else
      sendJson(response, {
        ...head(query, 'RUNNING'),
        nextUri: `${origin}/v1/statement/executing/${query.id}/${query.slug}/${number}`,
      });
  };

  const head = ({ id }: Query, state: string, readBytes = 0): object => ({
    id,
    infoUri: `${origin}/ui/query.html?${id}`,
    stats: {
      state,
      queued: state === 'QUEUED',
      scheduled: state !== 'QUEUED',
      nodes: 1,
      totalSplits: 1,
      queuedSplits: 0,
      runningSplits: 0,
      completedSplits: 1,
      cpuTimeMillis: 1,
      wallTimeMillis: 1,
      queuedTimeMillis: 0,
      elapsedTimeMillis: 1,
      processedRows: readBytes / 8,
      processedBytes: readBytes,
      physicalInputBytes: readBytes,
      physicalWrittenBytes: 0,
      peakMemoryBytes: 0,
      spilledBytes: 0,
    },
    warnings: [],
  });

  const sendQueued = (response: ServerResponse, query: Query, page: number): void =>
    sendJson(response, {
      ...head(query, 'QUEUED'),
      nextUri: `${origin}/v1/statement/queued/${query.id}/${query.slug}/${page + 1}`,
    });

  const sendPage = (response: ServerResponse, query: Query, page: number): void => {
    const { answer, error } = query;
    if (answer === undefined) {
      const { message, errorName, errorCode, errorType } =
        error ?? new TrinoError('GENERIC_INTERNAL_ERROR', '');
      sendJson(response, {
        ...head(query, 'FAILED'),
        error: {
          message,
          errorCode,
          errorName,
          errorType,
          errorLocation: { lineNumber: 1, columnNumber: 1 },
          failureInfo: {
            type: 'io.trino.spi.TrinoException',
            message,
            suppressed: [],
            stack: ['io.trino.Fake(Fake.java:1)'],
          },
        },
      });
      return;
    }
    const { columns, rows, headers = {}, updateType, readBytes } = answer;
    const size = rules.rowsPerPage;
    const shown = rows.slice(page * size, (page + 1) * size);
    const isLast = (page + 1) * size >= rows.length;
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    const cells = shown.map(
      (row) =>
        `[${row.map((cell, index) => valueJson(cell, columns[index]?.type ?? '')).join(',')}]`,
    );
    const members = {
      ...head(query, isLast ? 'FINISHED' : 'RUNNING', readBytes),
      columns: columns.map(describeColumn),
      ...(updateType !== undefined && { updateType }),
      ...(!isLast && {
        nextUri: `${origin}/v1/statement/executing/${query.id}/${query.slug}/${page + 1}`,
      }),
    };
    const text = JSON.stringify(members);
    sendBody(
      response,
      cells.length === 0 ? text : `${text.slice(0, -1)},"data":[${cells.join(',')}]}`,
    );
  };

  const listen = (request: IncomingMessage, response: ServerResponse): void => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => handle(request, response, Buffer.concat(chunks).toString('utf8')));
  };
  const server =
    options.tls === undefined ? createPlainServer(listen) : createTlsServer(options.tls, listen);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  origin = options.tls === undefined ? `http://127.0.0.1:${port}` : `https://localhost:${port}`;
  return {
    origin,
    requests,
    rules,
    running: () =>
      [...queries.values()]
        .filter(({ hasStarted, answer, error }) => hasStarted && !answer && !error)
        .map(({ sql }) => sql),
    openTransactions: () => statements.transactions.size,
    execute: (script) => duckdb.execute(script),
    async close() {
      for (const { abort } of queries.values()) abort.abort();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await Promise.all(
        [...queries.values()].filter(({ hasStarted }) => hasStarted).map(({ done }) => done),
      );
      duckdb.close();
    },
  };
}

function isAdmitted(
  { headers, method }: IncomingMessage,
  login: TrinoServerOptions['login'],
): boolean {
  // Only a statement says as whom; the pages that follow need not.
  if (login === undefined) return method !== 'POST' || typeof headers['x-trino-user'] === 'string';
  if ('token' in login) return headers.authorization === `Bearer ${login.token}`;
  const pair = Buffer.from(`${login.user}:${login.password}`).toString('base64');
  return headers.authorization === `Basic ${pair}`;
}

function sessionOf({ headers }: IncomingMessage): ReadonlyMap<string, string> {
  const text = headers['x-trino-session'];
  const pairs = (typeof text === 'string' ? text : '').split(',').filter(Boolean);
  return new Map(pairs.map((pair) => [pair.split('=')[0] ?? '', pair.split('=')[1] ?? '']));
}

function sendJson(response: ServerResponse, value: object): void {
  sendBody(response, JSON.stringify(value));
}

function sendBody(response: ServerResponse, text: string): void {
  response.writeHead(200, { 'Content-Type': 'application/json' }).end(text);
}

function sendText(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'Content-Type': 'text/plain' }).end(text);
}
