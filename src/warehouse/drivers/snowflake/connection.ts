import { setTimeout as pause } from 'node:timers/promises';
import type { QueryRows } from '../../driver.ts';
import { type RestAnswer, type RestClient, unexpectedAnswer } from '../../rest/client.ts';
import { limitResultSize } from '../../result-size.ts';
import { type CallLimits, withTimeLimit } from '../../time-limit.ts';
import { translateError, warehouseError } from '../../warehouse-error.ts';
import {
  readPartition,
  readResult,
  readStatus,
  type ResultAnswer,
  type ResultColumn,
} from './answers.ts';
import { codedError, snowflakeErrors } from './errors.ts';
import { snowflakeCell, snowflakeType } from './values.ts';

/** Where every statement runs: names as Snowflake keeps them. */
export interface StatementPlace {
  readonly database: string;
  readonly schema: string;
  readonly warehouse: string | undefined;
  readonly role: string | undefined;
}

/** As whom a statement runs, if not as the login of the connection. */
export interface StatementLogin {
  /** As Snowflake keeps it; undefined: that of the user. */
  readonly role: string | undefined;
  /** The headers of another login; undefined: that of the connection. */
  readonly headers: Readonly<Record<string, string>> | undefined;
}

interface RequestLimits extends CallLimits {
  readonly maxRows: number;
  readonly login?: StatementLogin | undefined;
  /**
   * True: the server answers at once and is asked again until the rows are there, so that the
   * statement can be cancelled from its start. False: the server answers with the rows.
   */
  readonly isLong?: boolean;
}

interface ConnectionOptions {
  readonly rest: RestClient;
  /** The host, for errors. */
  readonly server: string;
  readonly place: StatementPlace;
}

/** In milliseconds: how often a running statement is asked for. The last one repeats. */
const pollPauses = [20, 50, 100, 250, 500, 1000, 2000];
/** In milliseconds: how long the server may take to hear that a statement is given up. */
const cancelMs = 5000;

/** How every answer is written, and one statement for each request. */
const parameters = {
  QUERY_TAG: 'ktx',
  TIMEZONE: 'UTC',
  MULTI_STATEMENT_COUNT: '1',
  BINARY_OUTPUT_FORMAT: 'HEX',
};

/** A statement that was sent and has not ended. */
interface RunningStatement {
  handle?: string;
  readonly isLong: boolean;
  readonly login: StatementLogin['headers'];
  /** Ends the waiting, not the statement. */
  readonly waiting: AbortController;
  /** Ends the request that starts the statement: without its answer nobody can cancel it. */
  readonly starting: AbortController;
}

export class SnowflakeConnection {
  readonly #options: ConnectionOptions;
  readonly #closed = new AbortController();
  readonly #cancels = new Set<Promise<unknown>>();

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /** Runs one statement. A statement that is given up is ended on the server. */
  run(sql: string, limits: RequestLimits): Promise<QueryRows> {
    const running: RunningStatement = {
      isLong: limits.isLong === true,
      login: limits.login?.headers,
      waiting: new AbortController(),
      starting: new AbortController(),
    };
    return withTimeLimit(
      {
        ...limits,
        cancel: () => this.#giveUp(running),
        hintIfRunning: 'Snowflake ends it at its time limit; its query tag is ktx.',
      },
      async (milliseconds) => {
        const started = await this.#start(sql, { limits, milliseconds, running });
        const answer = await this.#waitForRows(started, running);
        return this.#readRows(answer, limits.maxRows, running);
      },
    ).catch(translateError(snowflakeErrors(this.#options.server)));
  }

  /** Waits until the server has heard which statements are given up. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#cancels);
    this.#closed.abort();
    this.#options.rest.close();
  }

  /** Sent again after a broken connection, the same request id starts no second statement. */
  async #start(
    sql: string,
    call: {
      readonly limits: RequestLimits;
      readonly milliseconds: number;
      readonly running: RunningStatement;
    },
  ): Promise<RestAnswer> {
    const { limits, milliseconds, running } = call;
    const { rest, place } = this.#options;
    const answer = await rest.send(
      {
        method: 'POST',
        path: 'api/v2/statements',
        query: { requestId: crypto.randomUUID(), async: String(running.isLong) },
        repeatable: true,
        repeatQuery: { retry: 'true' },
        login: running.login,
        json: {
          ...place,
          ...(limits.login && { role: limits.login.role }),
          statement: sql,
          timeout: Math.ceil(milliseconds / 1000) + 1,
          parameters: { ...parameters, ROWS_PER_RESULTSET: String(limits.maxRows + 1) },
        },
      },
      AbortSignal.any([running.starting.signal, this.#closed.signal]),
    );
    const handle = readStatus(answer.text)?.statementHandle;
    if (handle !== undefined && /^[\w-]{1,64}$/.test(handle)) running.handle = handle;
    if (running.waiting.signal.aborted) {
      this.#cancel(running);
      running.waiting.signal.throwIfAborted();
    }
    return answer;
  }

  async #waitForRows(first: RestAnswer, running: RunningStatement): Promise<ResultAnswer> {
    const { signal } = running.waiting;
    let answer = first;
    for (let asked = 0; answer.status === 202; asked += 1) {
      await pause(pollPauses[asked] ?? pollPauses.at(-1), undefined, { signal });
      answer = await this.#ask(running, {});
    }
    if (answer.status !== 200) throw this.#failure(answer);
    const result = readResult(answer.text);
    if (result === undefined || result.code === '391908') throw this.#oddAnswer();
    return result;
  }

  async #readRows(
    { resultSetMetaData: { rowType, numRows, partitionInfo = [] }, data }: ResultAnswer,
    maxRows: number,
    running: RunningStatement,
  ): Promise<QueryRows> {
    const countBytes = limitResultSize();
    const columns = rowType.map(({ name, type, scale }) => ({
      name,
      type: snowflakeType(type, scale),
    }));
    const rows: QueryRows['rows'][number][] = [];
    for (let [part, index] = [data, 0]; ; index += 1) {
      for (const texts of part) {
        if (rows.length === maxRows) return { columns, rows, truncated: true };
        countBytes(texts.reduce((size, text) => size + (text?.length ?? 0) + 4, 2));
        rows.push(this.#readRow(texts, rowType));
      }
      if (index + 1 >= partitionInfo.length) break;
      const next = await this.#ask(running, { partition: String(index + 1) });
      if (next.status !== 200) throw this.#failure(next);
      const read = readPartition(next.text);
      if (read === undefined) throw this.#oddAnswer();
      part = read.data;
    }
    if (numRows !== undefined && numRows !== rows.length)
      throw warehouseError(
        'query_failed',
        `${this.#options.server} announced ${numRows} rows and sent ${rows.length}.`,
      );
    return { columns, rows, truncated: false };
  }

  #readRow(
    texts: readonly (string | null)[],
    columns: readonly ResultColumn[],
  ): QueryRows['rows'][number] {
    if (texts.length !== columns.length) throw this.#oddAnswer();
    return columns.map((column, index) => snowflakeCell(texts[index] ?? null, column));
  }

  #ask(
    { handle, login, waiting }: RunningStatement,
    query: Readonly<Record<string, string>>,
  ): Promise<RestAnswer> {
    if (handle === undefined) throw this.#oddAnswer();
    return this.#options.rest.send(
      { method: 'GET', path: `api/v2/statements/${handle}`, query, login },
      AbortSignal.any([waiting.signal, this.#closed.signal]),
    );
  }

  #giveUp(running: RunningStatement): void {
    running.waiting.abort();
    const { handle, isLong, starting } = running;
    if (handle !== undefined) this.#cancel(running);
    else if (isLong) setTimeout(() => starting.abort(), cancelMs).unref();
    else starting.abort();
  }

  #cancel({ handle, login }: RunningStatement): void {
    if (handle === undefined) return;
    const sent = this.#options.rest
      .send(
        { method: 'POST', path: `api/v2/statements/${handle}/cancel`, login, repeatable: true },
        AbortSignal.any([AbortSignal.timeout(cancelMs), this.#closed.signal]),
      )
      .catch(() => undefined)
      .finally(() => this.#cancels.delete(sent));
    this.#cancels.add(sent);
  }

  /** What the server says about a statement that it does not run. */
  #failure(answer: RestAnswer): Error {
    const { server } = this.#options;
    const { code, message } = readStatus(answer.text) ?? {};
    if (code !== undefined && message !== undefined) return codedError(code, message);
    return [401, 403, 404, 408].includes(answer.status)
      ? codedError(`http-${answer.status}`, message ?? `status ${answer.status}`)
      : unexpectedAnswer(server, answer);
  }

  #oddAnswer(): Error {
    return warehouseError(
      'query_failed',
      `${this.#options.server} does not answer like the SQL API of Snowflake.`,
      { hint: 'Check account and endpoint of the connection.' },
    );
  }
}
