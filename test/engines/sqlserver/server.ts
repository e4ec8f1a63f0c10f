import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { createSecureContext, TLSSocket } from 'node:tls';
import { type DuckdbRows, attachedDatabases, openDuckdbRows } from '../duckdb-rows.ts';
import { catalogScript, mendTranslation, ownDatabase } from './catalog.ts';
import { batchText, type ClientLogin, executedText, preloginAnswer, readLogin } from './login.ts';
import { messageReader, packetKinds, packetsOf, type TdsMessage } from './packets.ts';
import { planText, serverFault, statementTypes } from './statements.ts';
import { doneToken, loginTokens, messageToken, rowsTokens, transactionToken } from './tokens.ts';

interface SqlServerOptions {
  /** SQL of DuckDB; its database is `memory`, with the schema `main`. It may attach others. */
  readonly script?: string;
  /** A key and a certificate; without them the server offers no encryption. */
  readonly tls?: { readonly key: string; readonly certificate: string };
}

interface SentText {
  readonly by: 'batch' | 'procedure';
  readonly sql: string;
  /** True if only its plan was asked for. */
  readonly isPlanned: boolean;
}

export interface SqlServer {
  readonly port: number;
  readonly statements: SentText[];
  readonly logins: ClientLogin[];
  /** The errors that it reported. */
  readonly failures: string[];
  /** How often a client asked to stop. */
  readonly attentions: () => number;
  readonly rules: {
    password: string;
    token: string;
    /** An error for a statement, in place of its rows. */
    fault:
      | ((sql: string) => { readonly number: number; readonly text: string } | undefined)
      | undefined;
    /** Bytes in place of an answer. */
    garbage: ((sql: string) => Buffer | undefined) | undefined;
    /** True for statements that a stop does not end. */
    isDeaf: (sql: string) => boolean;
    /** What its plan calls a statement, where it is to read it in another way. */
    plannedAs: string | undefined;
    /** A message beside the rows. */
    message: string | undefined;
  };
  running(): readonly string[];
  sockets(): number;
  execute(script: string): Promise<void>;
  close(): Promise<void>;
}

/** Speaks TDS 7.4 on loopback, as MS-TDS has it; the rows are DuckDB's. */
export async function startSqlserver(options: SqlServerOptions = {}): Promise<SqlServer> {
  const { script = '' } = options;
  const duckdb = await openDuckdbRows(
    [catalogScript(ownDatabase), script, ...attachedDatabases(script).map(catalogScript)].join(';'),
  );
  const shared: Shared = {
    duckdb,
    options,
    statements: [],
    logins: [],
    failures: [],
    running: new Set(),
    attentions: 0,
    rules: {
      password: 'p',
      token: 'entra-token',
      fault: undefined,
      garbage: undefined,
      isDeaf: () => false,
      plannedAs: undefined,
      message: undefined,
    },
  };
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    serve(socket, shared);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.unref();
  return {
    port: (server.address() as AddressInfo).port,
    statements: shared.statements,
    logins: shared.logins,
    failures: shared.failures,
    attentions: () => shared.attentions,
    rules: shared.rules,
    running: () => [...shared.running],
    sockets: () => sockets.size,
    execute: (text) => duckdb.execute(text),
    close: () => closeServer(server, sockets, duckdb),
  };
}

interface Shared extends Pick<SqlServer, 'statements' | 'logins' | 'failures' | 'rules'> {
  readonly duckdb: DuckdbRows;
  readonly options: SqlServerOptions;
  readonly running: Set<string>;
  attentions: number;
}

/** One client, from its greeting to its end. */
function serve(socket: Socket, shared: Shared): void {
  const { options } = shared;
  let write = (bytes: Buffer): void => void (socket.destroyed || socket.write(bytes));
  const session = startSession(shared, {
    answer: (tokens) => write(packetsOf(packetKinds.answer, Buffer.concat(tokens))),
    raw: (bytes) => write(bytes),
    close: () => socket.destroy(),
  });
  socket.on('close', () => session.end());
  const read = messageReader((message) => {
    if (message.kind !== packetKinds.prelogin) return session.take(message);
    write(packetsOf(packetKinds.answer, preloginAnswer(options.tls !== undefined)));
    if (options.tls === undefined) return;
    socket.off('data', read);
    const secure = encrypt(socket, options.tls);
    write = (bytes) => void (socket.destroyed || secure.write(bytes));
    secure.on(
      'data',
      messageReader((inner) => session.take(inner)),
    );
    secure.on('error', () => socket.destroy());
  });
  socket.on('data', read);
}

/** The handshake travels in packets of the greeting; what comes behind it does not. */
function encrypt(socket: Socket, tls: NonNullable<SqlServerOptions['tls']>): TLSSocket {
  let isWrapped = true;
  const inner = new Duplex({
    read: () => undefined,
    write: (bytes: Buffer, _encoding, done) => {
      socket.write(isWrapped ? packetsOf(packetKinds.prelogin, bytes) : bytes, () => done());
    },
  });
  const unwrap = messageReader(({ body }) => inner.push(body));
  socket.on('data', (bytes: Buffer) => {
    // A record of TLS begins with its kind, 20 to 23; a packet with 18.
    if (isWrapped && bytes[0] === packetKinds.prelogin) return unwrap(bytes);
    isWrapped = false;
    inner.push(bytes);
  });
  const secure = new TLSSocket(inner, {
    isServer: true,
    secureContext: createSecureContext({
      key: tls.key,
      cert: tls.certificate,
      // The last words of a newer handshake would travel outside of the packets.
      maxVersion: 'TLSv1.2',
    }),
  });
  secure.on('secure', () => undefined);
  return secure;
}

interface ClientLink {
  answer(tokens: readonly Buffer[]): void;
  raw(bytes: Buffer): void;
  close(): void;
}

function startSession(shared: Shared, link: ClientLink) {
  const { rules } = shared;
  let abort: AbortController | undefined;
  let transaction = 0;
  let isPlanned = false;
  let deaf = false;

  const logIn = (body: Buffer): void => {
    const login = readLogin(body);
    shared.logins.push(login);
    const isKnown =
      login.token === undefined ? login.password === rules.password : login.token === rules.token;
    const refused = isKnown
      ? login.database === ownDatabase
        ? undefined
        : {
            number: 4060,
            text: `Cannot open database "${login.database}" requested by the login. The login failed.`,
          }
      : { number: 18456, text: `Login failed for user '${login.user}'.` };
    if (refused === undefined) return link.answer([...loginTokens(login.database), doneToken({})]);
    link.answer([messageToken({ ...refused, severity: 14 }), doneToken({ failed: true })]);
  };

  const run = async (sql: string, by: SentText['by']): Promise<void> => {
    const isSetting = /^\s*(?:SET|IF @@TRANCOUNT)\b/i.test(sql);
    shared.statements.push({ by, sql, isPlanned: isPlanned && !isSetting });
    const garbage = rules.garbage?.(sql);
    if (garbage !== undefined) return link.raw(garbage);
    if (isSetting) return link.answer(change(sql));
    abort = new AbortController();
    deaf = rules.isDeaf(sql);
    shared.running.add(sql);
    const tokens = await answer(sql, abort.signal)
      .catch((error: unknown) => {
        if (abort?.signal.aborted === true) return [doneToken({ failed: true })];
        const fault = isFault(error) ? error : serverFault((error as Error).message);
        shared.failures.push(`${fault.text}: ${sql}`);
        return [messageToken({ ...fault, severity: 16 }), doneToken({ failed: true })];
      })
      .finally(() => shared.running.delete(sql));
    const isStopped = abort.signal.aborted;
    abort = undefined;
    link.answer(tokens);
    if (isStopped) link.answer([doneToken({ attention: true })]);
  };

  const answer = async (sql: string, signal: AbortSignal): Promise<readonly Buffer[]> => {
    const fault = rules.fault?.(sql);
    if (fault !== undefined) throw fault;
    const { database, text } = executedIn(sql);
    const ask = (prefix = '') =>
      shared.duckdb.run(text, {
        dialect: 'tsql',
        rewrite: (translated) => `USE "${database}"; ${prefix}${mendTranslation(translated)}`,
        signal,
      });
    if (isPlanned) {
      const types = rules.plannedAs === undefined ? statementTypes(sql) : [rules.plannedAs];
      if (
        types.length === 1 &&
        types[0]?.startsWith('SELECT') === true &&
        types[0] !== 'SELECT INTO'
      )
        await ask('EXPLAIN ');
      const xml = planText(types, 1000);
      const plan = { name: 'Microsoft SQL Server 2005 XML Showplan__xml', type: 'VARCHAR' };
      return [...rowsTokens({ columns: [plan], rows: [[xml]] }), doneToken({ count: 1 })];
    }
    const result = await ask();
    const said =
      rules.message === undefined
        ? []
        : [messageToken({ number: 3607, severity: 10, text: rules.message })];
    return [...rowsTokens(result), ...said, doneToken({ count: result.rows.length }, true)];
  };

  const change = (sql: string): readonly Buffer[] => {
    const plan = /SET SHOWPLAN_XML (?<state>ON|OFF)/.exec(sql)?.groups?.['state'];
    if (plan !== undefined) isPlanned = plan === 'ON';
    if (/BEGIN TRAN/.test(sql)) {
      transaction += 1;
      return [transactionToken(8, transaction), doneToken({})];
    }
    const isOpen = transaction > 0 && /ROLLBACK/.test(sql);
    return isOpen ? [transactionToken(10, transaction), doneToken({})] : [doneToken({})];
  };

  return {
    take({ kind, body, isIgnored }: TdsMessage): void {
      if (kind === packetKinds.attention) {
        shared.attentions += 1;
        if (abort === undefined) link.answer([doneToken({ attention: true })]);
        else if (!deaf) abort.abort();
        return;
      }
      if (isIgnored) return link.answer([doneToken({ failed: true })]);
      if (kind === packetKinds.login) return logIn(body);
      const sql = kind === packetKinds.batch ? batchText(body) : executedText(body);
      if (sql === undefined) return link.close();
      void run(sql, kind === packetKinds.batch ? 'batch' : 'procedure');
    },
    end(): void {
      abort?.abort();
    },
  };
}

/** The procedure of a database runs its text there. */
function executedIn(sql: string): { readonly database: string; readonly text: string } {
  const [, database = ownDatabase, text] =
    /^EXEC \[([^\]]+)\]\.sys\.sp_executesql N'((?:[^']|'')*)'$/.exec(sql) ?? [];
  return { database, text: text?.replaceAll("''", "'") ?? sql };
}

function isFault(error: unknown): error is { readonly number: number; readonly text: string } {
  return typeof error === 'object' && error !== null && 'number' in error && 'text' in error;
}

function closeServer(server: Server, sockets: Set<Socket>, duckdb: DuckdbRows): Promise<void> {
  for (const socket of sockets) socket.destroy();
  return new Promise((resolve) =>
    server.close(() => {
      duckdb.close();
      resolve();
    }),
  );
}
