import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type EngineSession, execute, literal, openEngine, readLines } from './engine.ts';

/** A login; what it may not do is `settings`, as in a settings profile. */
export interface Login {
  readonly user: string;
  readonly password: string;
  readonly settings?: Readonly<Record<string, string>>;
}
export interface ServerOptions {
  readonly folder: string;
  readonly logins: readonly Login[];
  readonly tls?: { readonly key: string; readonly cert: string };
}
/** Sent by the parent: statements that prepare a database, one after the other. */
export interface ScriptMessage {
  readonly id: number;
  readonly statements: readonly string[];
}
export type ServerMessage =
  | { readonly port: number }
  | { readonly id: number; readonly error?: string; readonly lines: readonly string[] };

/**
 * ClickHouse's HTTP interface in front of the real engine: statements in the body, settings as
 * parameters of the URL, errors with their code in a header. What the interface itself does is
 * done here: logins, one statement a request, and the end of statements whose client is gone.
 */
const options = JSON.parse(process.argv[2] ?? '{}') as ServerOptions;
const openSession = openEngine(options.folder);
const admin = openSession();
const running = new Map<string, string>();
/** Parameters of the interface that are no settings. */
const ownParameters = new Set([
  'query',
  'query_id',
  'database',
  'default_format',
  'user',
  'password',
  'role',
  'session_id',
]);

class EngineError extends Error {
  readonly code: number;
  constructor(code: number, name: string, text: string) {
    super(`Code: ${code}. DB::Exception: ${text} (${name}) (version 26.7.2.1)`);
    this.code = code;
  }
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://server');
  if (url.pathname === '/ping') return void response.end('Ok.\n');
  const login = loginOf(request, url);
  const sql = await readStatement(request, url);
  const queryId = url.searchParams.get('query_id') ?? crypto.randomUUID();
  response.setHeader('X-ClickHouse-Query-Id', queryId);
  response.setHeader('X-ClickHouse-Server-Display-Name', 'test');
  const killed = /^\s*KILL QUERY WHERE query_id = '([\w-]+)'/.exec(sql)?.[1];
  if (killed !== undefined) {
    await kill(killed);
    return void response.end();
  }
  await checkOneStatement(sql);
  const session = openSession();
  const onClose = (): void => void kill(queryId).catch(() => undefined);
  try {
    await applySettings(session, login, url);
    running.set(queryId, sql);
    response.once('close', onClose);
    await send(session, sql, { url, response });
  } finally {
    response.off('close', onClose);
    running.delete(queryId);
    session.close();
  }
}

function loginOf(request: IncomingMessage, url: URL): Login {
  const [, basic = ''] = /^Basic (.*)$/.exec(request.headers.authorization ?? '') ?? [];
  const [, basicUser, basicPassword] =
    /^([^:]*):(.*)$/s.exec(Buffer.from(basic, 'base64').toString('utf8')) ?? [];
  const header = (name: string) => request.headers[name]?.toString();
  const user =
    header('x-clickhouse-user') ?? basicUser ?? url.searchParams.get('user') ?? 'default';
  const password =
    header('x-clickhouse-key') ?? basicPassword ?? url.searchParams.get('password') ?? '';
  const login = options.logins.find((one) => one.user === user && one.password === password);
  if (login !== undefined) return login;
  throw new EngineError(
    516,
    'AUTHENTICATION_FAILED',
    `${user}: Authentication failed: password is incorrect, or there is no user with such name.`,
  );
}

async function readStatement(request: IncomingMessage, url: URL): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks).toString('utf8');
  return [url.searchParams.get('query') ?? '', body].filter(Boolean).join('\n');
}

/** The engine in a process takes scripts, and writes files for its own user; a server does not. */
async function checkOneStatement(sql: string): Promise<void> {
  const [text = ''] = await readLines(admin, `SELECT formatQuerySingleLine(${literal(sql)})`);
  const code = text.replaceAll(/'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`|"(?:[^"\\]|\\.)*"/g, "''");
  if (/ INTO OUTFILE ''/.test(code))
    throw new EngineError(48, 'NOT_IMPLEMENTED', 'INTO OUTFILE is not allowed');
}

async function applySettings(session: EngineSession, login: Login, url: URL): Promise<void> {
  const database = url.searchParams.get('database');
  if (database) {
    const name = `\`${database.replaceAll('`', '``')}\``;
    await execute(session, `USE ${name}`);
  }
  const wanted = [...url.searchParams].filter(
    ([name]) => !ownParameters.has(name) && !name.startsWith('param_'),
  );
  // A server checks all settings of a request against those before it: readonly comes last.
  const ordered = wanted.toSorted(
    ([a], [b]) => Number(a === 'readonly') - Number(b === 'readonly'),
  );
  for (const [name, value] of [...Object.entries(login.settings ?? {}), ...ordered])
    if (
      /^\w+$/.test(name) &&
      !/^(wait_end_of_query|cancel_http_readonly|enable_http_compression|send_progress)/.test(name)
    )
      await execute(session, `SET ${name} = ${literal(value)}`);
}

async function send(
  session: EngineSession,
  sql: string,
  { url, response }: { readonly url: URL; readonly response: ServerResponse },
): Promise<void> {
  const format = url.searchParams.get('default_format') ?? 'TabSeparated';
  response.setHeader('X-ClickHouse-Format', format);
  response.setHeader('X-ClickHouse-Timezone', 'UTC');
  const result = await session.queryAsync(sql, { format });
  if (!response.write(result.text())) await once(response, 'drain');
  response.end();
}

/** Ends a statement by its text: the engine gives it an id of its own. */
async function kill(queryId: string): Promise<void> {
  const sql = running.get(queryId);
  if (sql === undefined) return;
  await execute(admin, `KILL QUERY WHERE query = ${literal(sql)} ASYNC`);
}

const statuses: Readonly<Record<number, number>> = {
  516: 403,
  62: 400,
  47: 404,
  60: 404,
  81: 404,
  159: 500,
};

function fail(response: ServerResponse, error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  const code =
    error instanceof EngineError ? error.code : Number(/^Code: (\d+)/.exec(message)?.[1] ?? 1002);
  if (response.headersSent) return void response.destroy();
  response.statusCode = statuses[code] ?? 500;
  response.setHeader('X-ClickHouse-Exception-Code', String(code));
  response.end(`${message}\n`);
}

const listener = (request: IncomingMessage, response: ServerResponse): void => {
  answer(request, response).catch((error: unknown) => fail(response, error));
};
const server =
  options.tls === undefined ? createServer(listener) : createTlsServer(options.tls, listener);
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.send?.({ port } satisfies ServerMessage);
});

process.on('message', ({ id, statements }: ScriptMessage) => {
  void runScript(statements).then(
    (lines) => process.send?.({ id, lines } satisfies ServerMessage),
    (error: unknown) =>
      process.send?.({ id, error: String(error), lines: [] } satisfies ServerMessage),
  );
});
process.on('disconnect', () => process.exit());

/** The lines of the last statement. */
async function runScript(statements: readonly string[]): Promise<readonly string[]> {
  const session = openSession();
  try {
    let lines: readonly string[] = [];
    for (const sql of statements) lines = await readLines(session, sql);
    return lines;
  } finally {
    session.close();
  }
}
