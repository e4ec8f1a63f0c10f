import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import type { QueryRows } from '../../driver.ts';
import {
  openRest,
  type RestAnswer,
  type RestClient,
  type RestRequest,
  unexpectedAnswer,
} from '../../rest/client.ts';
import { parseExactJson } from '../../result/exact-json.ts';
import { limitResultSize } from '../../result-size.ts';
import { type CallLimits, withTimeLimit } from '../../time-limit.ts';
import { translateError, warehouseError } from '../../warehouse-error.ts';
import type { Cell } from '../../warehouse.ts';
import type { StatementIdentity } from '../../identity/statement-identity.ts';
import { trinoErrors } from './errors.ts';
import { identityHeaders } from './identity.ts';
import type { TrinoSettings } from './settings.ts';
import { trinoCell, trinoFieldType } from './values.ts';

/** One page of an answer. Later versions of the server add members. */
const pageSchema = z.looseObject({
  id: z.string(),
  nextUri: z.string().optional(),
  columns: z.array(z.looseObject({ name: z.string(), type: z.string() })).nullish(),
  data: z.array(z.array(z.unknown())).nullish(),
  error: z
    .looseObject({ message: z.string().nullish(), errorName: z.string().nullish() })
    .nullish(),
  warnings: z.array(z.looseObject({ message: z.string() })).nullish(),
  stats: z
    .looseObject({
      state: z.string(),
      processedRows: z.number().optional(),
      processedBytes: z.number().optional(),
      physicalInputBytes: z.number().optional(),
    })
    .optional(),
});
type AnswerPage = z.infer<typeof pageSchema>;

export interface TrinoLimits extends CallLimits {
  /** The most that each statement may read from storage. */
  readonly maxBytes?: number | undefined;
  readonly identity?: StatementIdentity | undefined;
}

/** A read-only transaction of the server. */
export interface TrinoTransaction {
  /** Runs one statement and reads at most so many rows of it; the rest is left and cancelled. */
  query(sql: string, maxRows: number): Promise<QueryRows>;
}

/** In milliseconds; the server itself waits up to a second before it says that nothing is new. */
const [firstPause, longestPause] = [1, 500];
/** In milliseconds, for what is sent after a call was given up. */
const cleanUpTime = 5000;

/** Speaks the client protocol of Trino. */
export class TrinoConnection {
  readonly #client: RestClient;
  readonly #server: string;

  constructor(connection: string, settings: TrinoSettings) {
    const { origin, catalog, schema, user, login, tls } = settings;
    this.#server = new URL(origin).host;
    this.#client = openRest({
      connection,
      baseUrl: origin,
      login: () => Promise.resolve(login),
      headers: {
        ...(user === undefined ? {} : { 'x-trino-user': user }),
        'x-trino-source': 'ktx',
        'x-trino-client-tags': 'ktx',
        'x-trino-catalog': catalog,
        'x-trino-schema': schema,
        'x-trino-time-zone': 'UTC',
        'x-trino-language': 'en-US',
      },
      tls,
      allowPlain: true,
    });
  }

  /**
   * Does the work in one read-only transaction, which is rolled back. A statement that is given up
   * is cancelled on the server.
   */
  transact<T>(
    limits: TrinoLimits,
    work: (transaction: TrinoTransaction) => Promise<T>,
  ): Promise<T> {
    const abort = new AbortController();
    const headers = identityHeaders(limits.identity);
    const site = { client: this.#client, server: this.#server, headers };
    const call = new TrinoCall(site, abort.signal);
    return withTimeLimit(
      {
        ...limits,
        cancel: () => abort.abort(),
        hintIfRunning: 'SELECT * FROM system.runtime.queries shows it, with the source ktx.',
      },
      async (milliseconds) => {
        const session = sessionProperties(milliseconds, limits.maxBytes);
        const { startedTransaction } = await call.run('START TRANSACTION READ ONLY', {
          transaction: 'NONE',
        });
        if (startedTransaction === undefined)
          throw warehouseError(
            'query_failed',
            `${this.#server} started no transaction, so ktx reads nothing from it.`,
          );
        const transaction = startedTransaction;
        try {
          return await work({
            query: async (sql, maxRows) =>
              (await call.run(sql, { transaction, session, maxRows })).rows,
          });
        } finally {
          await rollBack(site, transaction);
        }
      },
    ).catch(translateError(trinoErrors(this.#server)));
  }

  close(): void {
    this.#client.close();
  }
}

/** A failure changes nothing: the server ends a transaction that is left after some minutes. */
async function rollBack(site: TrinoSite, transaction: string): Promise<void> {
  const call = new TrinoCall(site, AbortSignal.timeout(cleanUpTime));
  await call.run('ROLLBACK', { transaction }).catch(() => undefined);
}

function sessionProperties(milliseconds: number, maxBytes: number | undefined): string {
  const seconds = Math.ceil(milliseconds / 1000) + 1;
  const limit = maxBytes === undefined ? [] : [`query_max_scan_physical_bytes=${maxBytes}B`];
  return [`query_max_run_time=${seconds}s`, ...limit].join(',');
}

interface StatementOptions {
  readonly transaction: string;
  /** The header `X-Trino-Session`. */
  readonly session?: string;
  readonly maxRows?: number;
}

interface StatementOutcome {
  readonly rows: QueryRows;
  readonly startedTransaction: string | undefined;
}

/** Where statements are sent, and as whom. */
interface TrinoSite {
  readonly client: RestClient;
  readonly server: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The statements of one call, one after another. */
class TrinoCall {
  readonly #client: RestClient;
  readonly #server: string;
  readonly #identity: TrinoSite['headers'];
  readonly #signal: AbortSignal;

  constructor({ client, server, headers }: TrinoSite, signal: AbortSignal) {
    [this.#client, this.#server, this.#identity, this.#signal] = [client, server, headers, signal];
  }

  /** Follows the pages of a statement to the last, or until there are rows enough. */
  async run(
    sql: string,
    { transaction, session, maxRows = 10 }: StatementOptions,
  ): Promise<StatementOutcome> {
    const headers = {
      ...this.#identity,
      'x-trino-transaction-id': transaction,
      ...(session !== undefined && { 'x-trino-session': session }),
    };
    const rows = collectRows(maxRows);
    let startedTransaction: string | undefined;
    let wait = firstPause;
    let request: RestRequest = { method: 'POST', path: 'v1/statement', text: sql, headers };
    let next: string | undefined;
    try {
      for (;;) {
        const answer = await this.#client.send(request, this.#signal);
        const started = answer.headers['x-trino-started-transaction-id'];
        startedTransaction ??= typeof started === 'string' ? started : undefined;
        const page = this.#readPage(answer);
        next = page.nextUri;
        if (page.error) throw statementError(page.error);
        rows.add(page, answer.text.length);
        if (next === undefined) return { rows: rows.result(), startedTransaction };
        if (rows.isFull()) {
          await this.#cancel(next);
          return { rows: rows.result(), startedTransaction };
        }
        wait = (page.data ?? []).length > 0 ? firstPause : Math.min(2 * wait, longestPause);
        await pause(wait, undefined, { signal: this.#signal });
        request = { method: 'GET', path: next, headers: this.#identity };
      }
    } catch (error) {
      if (next !== undefined) void this.#cancel(next);
      throw error;
    }
  }

  #readPage(answer: RestAnswer): AnswerPage {
    const { status, text } = answer;
    if (status === 401 || status === 403)
      throw warehouseError('warehouse_auth', `${this.#server} refused the login.`, {
        hint: 'Check user, and password or token, of the connection.',
      });
    if (status === 404 || status === 410)
      throw warehouseError(
        'query_failed',
        `${this.#server} does not know the statement any longer, or speaks no Trino.`,
        { retryable: true },
      );
    if (status !== 200) throw unexpectedAnswer(this.#server, answer);
    const page = pageSchema.safeParse(parsedJson(text));
    if (page.success) return page.data;
    throw new Error('it sent a page that is none of the client protocol');
  }

  /** Ends a statement on the server. It has its own time, since the call may be over. */
  async #cancel(nextUri: string): Promise<void> {
    const signal = AbortSignal.timeout(cleanUpTime);
    await this.#client
      .send({ method: 'DELETE', path: nextUri, repeatable: true, headers: this.#identity }, signal)
      .catch(() => undefined);
  }
}

function parsedJson(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function statementError({ message, errorName }: NonNullable<AnswerPage['error']>): Error {
  return Object.assign(new Error(message ?? errorName ?? 'it gives no reason'), {
    code: errorName ?? 'GENERIC_INTERNAL_ERROR',
  });
}

function collectRows(maxRows: number) {
  const countBytes = limitResultSize();
  let columns: QueryRows['columns'] = [];
  let stats: AnswerPage['stats'];
  const warnings: string[] = [];
  const rows: (readonly Cell[])[] = [];
  let isTruncated = false;
  return {
    add(page: AnswerPage, size: number): void {
      countBytes(size);
      stats = page.stats ?? stats;
      warnings.push(...(page.warnings ?? []).map(({ message }) => message));
      if (columns.length === 0)
        columns = (page.columns ?? []).map(({ name, type }) => ({
          name,
          type: trinoFieldType(type),
        }));
      for (const row of page.data ?? []) {
        if (row.length !== columns.length) throw new Error('it sent a row of other columns');
        isTruncated ||= rows.length >= maxRows;
        if (isTruncated) return;
        rows.push(row.map((cell, index) => trinoCell(cell, columns[index]?.type ?? 'unknown')));
      }
    },
    isFull: (): boolean => isTruncated,
    result: (): QueryRows => ({
      columns,
      rows,
      truncated: isTruncated,
      warnings: [...new Set(warnings)],
      cost: {
        rowsRead: stats?.processedRows ?? 0,
        bytesRead: stats?.physicalInputBytes || stats?.processedBytes || 0,
      },
    }),
  };
}
