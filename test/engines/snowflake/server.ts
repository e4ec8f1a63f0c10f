import { createPublicKey, createHash, type KeyObject } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { jwtVerify } from 'jose';
import { encodeRows, type WireRows } from './encode.ts';
import {
  type EngineSettings,
  openEngine,
  type SnowflakeEngine,
  SnowflakeFailure,
} from './engine.ts';

/** Who may log in. */
interface SnowflakeLogins {
  readonly account: string;
  readonly user: string;
  /** PEM of the public key of the user. */
  readonly publicKey?: string;
  readonly tokens?: readonly string[];
  readonly oauthTokens?: readonly string[];
}

export interface SnowflakeServerSettings extends Partial<EngineSettings> {
  readonly script: string;
  /** What of a statement a role, or a user by their token, may see. */
  readonly secure?: (sql: string, who: { role: string; token: string }) => string;
  readonly logins: SnowflakeLogins;
  readonly role?: string;
  /** Rows in one partition. */
  readonly partitionRows?: number;
  /** In milliseconds: how long a statement that is not asynchronous is waited for. */
  readonly syncMs?: number;
}

/** A request as a test sees it. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly body: StatementBody | undefined;
  readonly answer?: string;
}

interface StatementBody {
  readonly statement: string;
  readonly timeout?: number;
  readonly database?: string;
  readonly schema?: string;
  readonly warehouse?: string;
  readonly role?: string;
  readonly parameters?: Readonly<Record<string, string>>;
}

/** What a test makes of a request: the answer, nothing at all, or the end of the connection. */
export type Interception =
  | {
      readonly status: number;
      readonly headers?: Record<string, string>;
      readonly body: string | Buffer;
    }
  | 'hang'
  | 'break';

export interface SnowflakeServer {
  readonly port: number;
  readonly endpoint: string;
  readonly seen: SeenRequest[];
  /** Answers, by status, as they were sent. */
  readonly answers: { readonly path: string; readonly status: number; readonly body: unknown }[];
  /** Statements that run now. */
  readonly running: () => number;
  intercept: ((request: SeenRequest) => Interception | undefined) | undefined;
  execute(script: string): Promise<void>;
  close(): Promise<void>;
}

interface Statement {
  readonly handle: string;
  readonly requestId: string;
  readonly abort: AbortController;
  readonly createdOn: number;
  readonly done: Promise<void>;
  outcome?: WireRows | SnowflakeFailure;
}

const fields = new Set(
  'statement timeout database schema warehouse role bindings parameters'.split(' '),
);
const parameterNames = new Set(
  'timezone query_tag binary_output_format date_output_format time_output_format timestamp_output_format timestamp_ltz_output_format timestamp_ntz_output_format timestamp_tz_output_format multi_statement_count rows_per_resultset client_result_chunk_size use_cached_result'.split(
    ' ',
  ),
);

/** The SQL API v2 on a loopback socket, with DuckDB behind it. */
export async function startSnowflake(settings: SnowflakeServerSettings): Promise<SnowflakeServer> {
  const { script, database = 'SALES', mostShown = 10_000 } = settings;
  const grants = settings.grants ?? { READER: [], PUBLIC: [] };
  const engine = await openEngine({ ...settings, script, database, grants, mostShown });
  const state = new ServerState({ ...settings, database }, engine);
  const http = createServer((request, response) => {
    state.answer(request, response).catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : undefined);
    });
  });
  await new Promise<void>((listening) => http.listen(0, '127.0.0.1', listening));
  const { port } = http.address() as AddressInfo;
  return {
    port,
    endpoint: `http://127.0.0.1:${port}`,
    seen: state.seen,
    answers: state.answers,
    running: () => state.runningCount(),
    get intercept() {
      return state.intercept;
    },
    set intercept(change) {
      state.intercept = change;
    },
    execute: (text) => engine.execute(text),
    close: () => closeServer(http, engine, state),
  };
}

async function closeServer(http: Server, engine: SnowflakeEngine, state: ServerState) {
  await state.abortAll();
  http.closeAllConnections();
  await new Promise((closed) => http.close(closed));
  engine.close();
}

class ServerState {
  readonly seen: SeenRequest[] = [];
  readonly answers: { path: string; status: number; body: unknown }[] = [];
  intercept: ((request: SeenRequest) => Interception | undefined) | undefined;
  readonly #settings: SnowflakeServerSettings & { readonly database: string };
  readonly #engine: SnowflakeEngine;
  readonly #statements = new Map<string, Statement>();

  constructor(
    settings: SnowflakeServerSettings & { readonly database: string },
    engine: SnowflakeEngine,
  ) {
    this.#settings = settings;
    this.#engine = engine;
  }

  runningCount(): number {
    return [...this.#statements.values()].filter(({ outcome }) => outcome === undefined).length;
  }

  async abortAll(): Promise<void> {
    for (const { abort } of this.#statements.values()) abort.abort();
    await Promise.all([...this.#statements.values()].map(({ done }) => done));
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const seen = await readRequest(request);
    this.seen.push(seen);
    const instead = this.intercept?.(seen);
    if (instead === 'hang') return;
    if (instead === 'break') {
      request.socket.destroy();
      return;
    }
    if (instead !== undefined) {
      response.writeHead(instead.status, instead.headers).end(instead.body);
      return;
    }
    const { status, body, isPacked } = await this.#route(seen);
    this.answers.push({ path: seen.path, status, body });
    const text = JSON.stringify(body);
    response.writeHead(status, {
      'content-type': 'application/json',
      ...(isPacked === true && { 'content-encoding': 'gzip' }),
    });
    response.end(isPacked === true ? gzipSync(text) : text);
  }

  async #route(request: SeenRequest): Promise<WireAnswer> {
    const refusal = headerProblem(request) ?? (await loginProblem(request, this.#settings.logins));
    if (refusal !== undefined) return refusal;
    const [, handle, action] =
      /^\/api\/v2\/statements(?:\/([\w-]+)(?:\/(cancel))?)?$/.exec(request.path) ?? [];
    if (handle === undefined) return this.#submit(request);
    const statement = this.#statements.get(handle);
    if (statement === undefined) return failed(404, '391914', 'Statement not found');
    if (action === undefined) return this.#status(statement, request);
    statement.abort.abort();
    await statement.done;
    return {
      status: 200,
      body: {
        ...names(statement),
        code: '000604',
        sqlState: '57014',
        message: 'successfully canceled',
      },
    };
  }

  async #submit(request: SeenRequest): Promise<WireAnswer> {
    const { body, query } = request;
    if (request.method !== 'POST' || body === undefined)
      return failed(405, '391901', 'Method not allowed');
    const problem = bodyProblem(body);
    if (problem !== undefined) return failed(400, '391902', problem);
    const requestId = query.get('requestId') ?? crypto.randomUUID();
    const known = [...this.#statements.values()].find((other) => other.requestId === requestId);
    if (known !== undefined && query.get('retry') !== 'true')
      return failed(400, '391920', 'the request id was used before');
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
    const statement = known ?? this.#start({ ...body, token }, requestId);
    const isAsync = query.get('async') === 'true';
    const { syncMs = 45_000 } = this.#settings;
    const limit = new Promise((over) => setTimeout(over, syncMs).unref());
    if (!isAsync) await Promise.race([statement.done, limit]);
    return isAsync ? inProgress(statement) : this.#status(statement, request);
  }

  #start(body: StatementBody & { readonly token: string }, requestId: string): Statement {
    const handle = crypto.randomUUID();
    const abort = new AbortController();
    const { role = 'READER', database, secure = (sql: string) => sql } = this.#settings;
    const run = async (): Promise<WireRows> => {
      if (body.database !== database)
        throw new SnowflakeFailure(
          '390201',
          '08004',
          `The requested database ${body.database} does not exist or not authorized.`,
        );
      if (/;\s*\S/.test(body.statement.replaceAll(/'[^']*'|\/\*[^]*?\*\//g, '')))
        throw new SnowflakeFailure(
          '000008',
          '0A000',
          'Actual statement count 2 did not match the desired statement count 1.',
        );
      const context = {
        role: body.role ?? role,
        schema: body.schema ?? 'PUBLIC',
        signal: abort.signal,
      };
      const statement = secure(body.statement, { role: context.role, token: body.token });
      const rows = await this.#engine.run(statement.replace(/;\s*$/, ''), context);
      const most = Number(parameter(body, 'rows_per_resultset') ?? 0);
      return encodeRows(most > 0 ? { ...rows, rows: rows.rows.slice(0, most) } : rows);
    };
    let isOver = false;
    const timer = setTimeout(
      () => {
        isOver = true;
        abort.abort();
      },
      (body.timeout ?? 172_800) * 1000,
    );
    const done = run()
      .catch((error: unknown) => {
        if (isOver) return timedOut();
        return error instanceof SnowflakeFailure
          ? error
          : new SnowflakeFailure(
              '000603',
              'XX000',
              `Processing aborted by error: ${String(error)}`,
            );
      })
      .then((outcome) => {
        clearTimeout(timer);
        statement.outcome = outcome;
      });
    const statement: Statement = { handle, requestId, abort, done, createdOn: Date.now() };
    this.#statements.set(handle, statement);
    return statement;
  }

  #status(statement: Statement, { query }: SeenRequest): WireAnswer {
    const { outcome } = statement;
    if (outcome === undefined) return inProgress(statement);
    if (outcome instanceof SnowflakeFailure) {
      const { code, sqlState, message } = outcome;
      const status = code === '000630' ? 408 : 422;
      return { status, body: { ...names(statement), code, sqlState, message } };
    }
    const { partitionRows = 1000 } = this.#settings;
    const index = Number(query.get('partition') ?? 0);
    const data = outcome.data.slice(index * partitionRows, (index + 1) * partitionRows);
    // Later partitions have neither the names nor a code, and are packed.
    if (index > 0) return { status: 200, body: { data }, isPacked: true };
    const count = Math.max(1, Math.ceil(outcome.data.length / partitionRows));
    const sizes = Array.from({ length: count }, (_, part) => {
      const rows = outcome.data.slice(part * partitionRows, (part + 1) * partitionRows);
      return { rowCount: rows.length, uncompressedSize: JSON.stringify(rows).length };
    });
    return {
      status: 200,
      body: {
        resultSetMetaData: {
          numRows: outcome.data.length,
          format: 'jsonv2',
          partitionInfo: sizes,
          rowType: outcome.rowType,
        },
        data,
        code: '090001',
        sqlState: '00000',
        message: 'Statement executed successfully.',
        ...names(statement),
      },
    };
  }
}

interface WireAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly isPacked?: boolean;
}

function names({ handle, requestId, createdOn }: Statement) {
  return {
    statementHandle: handle,
    requestId,
    createdOn,
    statementStatusUrl: `/api/v2/statements/${handle}?requestId=${requestId}`,
  };
}

function inProgress(statement: Statement): WireAnswer {
  const message =
    'Asynchronous execution in progress. Use provided query id to perform query monitoring and management.';
  const { createdOn: _createdOn, ...rest } = names(statement);
  return { status: 202, body: { code: '333334', message, ...rest } };
}

function timedOut(): SnowflakeFailure {
  return new SnowflakeFailure(
    '000630',
    '57014',
    'Statement reached its statement or warehouse timeout of 1 second(s) and was canceled.',
  );
}

function failed(status: number, code: string, message: string): WireAnswer {
  return { status, body: { code, message } };
}

async function readRequest(request: IncomingMessage): Promise<SeenRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  const url = new URL(request.url ?? '/', 'http://localhost');
  const text = Buffer.concat(chunks).toString('utf8');
  const body = text === '' ? undefined : (JSON.parse(text) as StatementBody);
  const { method = '', headers } = request;
  return { method, path: url.pathname, query: url.searchParams, headers, body };
}

function headerProblem({ headers, body }: SeenRequest): WireAnswer | undefined {
  if (!/^[\w.-]+\/[\w.-]+/.test(headers['user-agent'] ?? ''))
    return failed(400, '391903', 'User-Agent header is missing or invalid');
  if (!/json|\*\/\*/.test(headers.accept ?? ''))
    return failed(400, '391902', 'Unsupported Accept header');
  return body !== undefined && headers['content-type'] !== 'application/json'
    ? failed(415, '391904', 'Unsupported Content-Type')
    : undefined;
}

function bodyProblem(body: StatementBody): string | undefined {
  const field = Object.keys(body).find((name) => !fields.has(name));
  if (field !== undefined) return `unknown field ${field}`;
  const unknown = Object.keys(body.parameters ?? {}).find(
    (name) => !parameterNames.has(name.toLowerCase()),
  );
  if (unknown !== undefined) return `unsupported parameter ${unknown}`;
  return parameter(body, 'multi_statement_count') === '1' ? undefined : 'one statement expected';
}

function parameter({ parameters = {} }: StatementBody, wanted: string): string | undefined {
  return Object.entries(parameters).find(([name]) => name.toLowerCase() === wanted)?.[1];
}

async function loginProblem(
  { headers }: SeenRequest,
  logins: SnowflakeLogins,
): Promise<WireAnswer | undefined> {
  const token = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1] ?? '';
  const kind = headers['x-snowflake-authorization-token-type'];
  if (kind === 'PROGRAMMATIC_ACCESS_TOKEN')
    return logins.tokens?.includes(token) === true
      ? undefined
      : failed(401, '394400', 'Programmatic access token is invalid.');
  if (kind === 'KEYPAIR_JWT' && logins.publicKey !== undefined)
    return (await isJwtOf(token, logins, createPublicKey(logins.publicKey)))
      ? undefined
      : failed(401, '390144', 'JWT token is invalid. [a1b2c3]');
  return logins.oauthTokens?.includes(token) === true
    ? undefined
    : failed(401, '390303', 'Invalid OAuth access token. ');
}

async function isJwtOf(
  token: string,
  { account, user }: SnowflakeLogins,
  key: KeyObject,
): Promise<boolean> {
  const der = key.export({ type: 'spki', format: 'der' });
  const print = createHash('sha256').update(der).digest('base64');
  const subject = `${account}.${user}`;
  const issuer = `${subject}.SHA256:${print}`;
  try {
    const { payload } = await jwtVerify(token, key, { subject, issuer, algorithms: ['RS256'] });
    return (payload.exp ?? 0) - (payload.iat ?? 0) <= 3600;
  } catch {
    return false;
  }
}
