import PQueue from 'p-queue';
import { Client, type ClientConfig, DatabaseError, Pool, type PoolClient, Query } from 'pg';
import type { RunCatalogQuery, StreamCatalogRows } from '../table-schemas.ts';
import { beginPlaceWait } from '../waits/place-waits.ts';
import { type CallLimits, withTimeLimit } from '../time-limit.ts';
import { translateError, warehouseError } from '../warehouse-error.ts';
import { cancelStatement } from './cancel.ts';
import { GuardedClient } from './guard-socket.ts';
import { serverErrors } from './server-errors.ts';

export interface WireEngine {
  /** For errors: `Postgres`. */
  readonly title: string;
  /** Begins a read-only transaction and sets what statements in it depend on. */
  readonly transactionSql: string;
  /** For the error: how to find a statement that does not stop. */
  readonly hintIfRunning: string;
  /**
   * A setting of the session, for what comes after a transaction. It is not sent through a pooler,
   * which would hand it on to others.
   */
  readonly sessionSql?: string;
  /** The error for a server that ktx cannot use, by what it said of itself at the login. */
  readonly refuse?: (serverSettings: ReadonlyMap<string, string>) => Error | undefined;
}

/** A setting that holds for one transaction. */
export interface SessionSetting {
  readonly name: string;
  readonly value: string;
  /** The error for a server that does not take it. */
  readonly refused: (why: string) => Error;
}

interface WireLimits extends CallLimits {
  readonly setting?: SessionSetting | undefined;
}

const mostConnections = 4;

/** A pool that runs all work in read-only transactions and rolls them back. */
export function openTransactions(settings: ClientConfig, engine: WireEngine) {
  const poolLimits = { max: mostConnections, idleTimeoutMillis: 30_000, allowExitOnIdle: true };
  // The pool would take a caller that waits for a free connection for a server that is away.
  const queue = new PQueue({ concurrency: mostConnections });
  const pool = new Pool({ ...settings, ...poolLimits, Client: GuardedClient });
  // If the server drops an idle connection, the next call gets a new one.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  let beginSql = engine.transactionSql;
  // The library merges the URL, the fields and the environment.
  const { host, port, database } = new Client(settings);
  const errorRules = serverErrors(engine.title, `${host}:${port}/${database}`);
  const runAtOnce = async <T>(
    limits: WireLimits,
    work: (client: PoolClient) => Promise<T>,
  ): Promise<T> => {
    const client = await pool.connect().catch(translateError(errorRules));
    // After a cancel the connection is thrown away: the cancel could still hit its next
    // statement.
    let isCancelled = false;
    let isPooled = false;
    if (client instanceof GuardedClient) client.guard?.startTransaction();
    try {
      checkServer(client, engine);
      const cancel = (): void => {
        isCancelled = true;
        void cancelStatement(client, settings, isPooled);
      };
      const { hintIfRunning, sessionSql } = engine;
      const result = await withTimeLimit(
        { ...limits, cancel, hintIfRunning },
        async (milliseconds) => {
          isPooled = await begin(client, `${beginSql}; ${timeoutSql(milliseconds)}`);
          const isSet = !isPooled && sessionSql !== undefined;
          const endSql = isSet ? `ROLLBACK; ${sessionSql}` : 'ROLLBACK';
          const { setting } = limits;
          const setAndWork = async (): Promise<T> => {
            if (setting !== undefined) await applySetting(client, setting);
            return work(client);
          };
          // A connection that is gone has nothing to roll back.
          return setAndWork().finally(() => client.query(endSql).catch(() => undefined));
        },
      );
      client.release(isCancelled);
      return result;
    } catch (error) {
      client.release(isCancelled || !(error instanceof DatabaseError));
      return translateError(errorRules)(error);
    }
  };
  const run = async <T>(limits: WireLimits, work: (client: PoolClient) => Promise<T>) =>
    inTurn(queue, limits.signal, () => runAtOnce(limits, work));
  return {
    run,
    ...catalogReaders(run),
    /** Tries a setting now; if the server takes it, every later transaction has it. */
    async addSetting(client: PoolClient, sql: string): Promise<void> {
      await client.query(sql).then(
        () => (beginSql = `${engine.transactionSql}; ${sql}`),
        () => undefined,
      );
    },
    close: () => pool.end(),
  };
}

type RunWork = <T>(limits: WireLimits, work: (client: PoolClient) => Promise<T>) => Promise<T>;

function catalogReaders(run: RunWork) {
  return {
    /** Statements over the engine's own catalogs; their rows are objects. */
    runCatalogQueries: <T>(signal: AbortSignal, work: (query: RunCatalogQuery) => Promise<T>) =>
      run({ signal }, (client) => work(async (sql) => (await client.query(sql)).rows as unknown[])),
    /** As `runCatalogQueries`, for rows that are too many to be held. */
    streamCatalogRows: <T>(signal: AbortSignal, work: (stream: StreamCatalogRows) => Promise<T>) =>
      run({ signal }, (client) => work((sql, take) => streamRows(client, sql, take))),
  };
}

function streamRows(client: PoolClient, sql: string, take: (row: unknown) => void): Promise<void> {
  const query = client.query(new Query(sql));
  query.on('row', take);
  return new Promise((resolve, reject) => {
    query.on('end', () => resolve());
    query.on('error', reject);
  });
}

/** Throws `query_cancelled` if the caller goes while it waits. */
async function inTurn<T>(queue: PQueue, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  // What runs stops by itself, and says whether it has.
  const waiting = new AbortController();
  const leave = (): void =>
    waiting.abort(warehouseError('query_cancelled', 'The query was cancelled.'));
  if (signal.aborted) leave();
  signal.addEventListener('abort', leave, { once: true });
  const endWait = queue.pending < mostConnections ? undefined : beginPlaceWait();
  const start = (): Promise<T> => {
    signal.removeEventListener('abort', leave);
    endWait?.();
    return work();
  };
  return queue.add(start, { signal: waiting.signal });
}

function checkServer(client: PoolClient, { refuse }: WireEngine): void {
  const refusal = client instanceof GuardedClient ? refuse?.(client.serverSettings) : undefined;
  if (refusal !== undefined) throw refusal;
}

/** As parameters: a server may read a backslash in a text as an escape. */
async function applySetting(client: PoolClient, setting: SessionSetting): Promise<void> {
  const { name, value, refused } = setting;
  await client.query('SELECT set_config($1, $2, true)', [name, value]).catch((error: unknown) => {
    throw error instanceof DatabaseError ? refused(error.message) : error;
  });
}

function timeoutSql(milliseconds: number): string {
  return `SET LOCAL statement_timeout = ${milliseconds}`;
}

/**
 * Begins a transaction. True if a pooler stands before the server: its connection has another
 * process there than it said at the login.
 */
async function begin(client: PoolClient, beginSql: string): Promise<boolean> {
  const results = (await client.query(`${beginSql}; SELECT pg_backend_pid() AS pid`)) as unknown;
  const [row] = (Array.isArray(results) ? (results.at(-1) as { rows: unknown[] }).rows : []) as {
    readonly pid?: number;
  }[];
  const { processID } = client as unknown as { readonly processID: number | null };
  return row?.pid !== undefined && row.pid !== processID;
}
