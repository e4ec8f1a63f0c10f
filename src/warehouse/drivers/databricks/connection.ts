import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import type { FieldType } from '../../../sql/field-type.ts';
import type { QueryRows } from '../../driver.ts';
import { openRest, type RestAnswer, type RestClient, unexpectedAnswer } from '../../rest/client.ts';
import { limitResultSize } from '../../result-size.ts';
import { type CallLimits, withTimeLimit } from '../../time-limit.ts';
import { translateError, warehouseError } from '../../warehouse-error.ts';
import type { Cell } from '../../warehouse.ts';
import { databricksErrors } from './errors.ts';
import { readLink } from './external-link.ts';
import { type DatabricksLogin, jsonOrNothing } from './login.ts';
import { requireReadingPlan } from './plan.ts';
import { databricksCell, databricksFieldType } from './values.ts';

export interface DatabricksSettings {
  readonly connection: string;
  /** The origin of the workspace. */
  readonly baseUrl: string;
  readonly warehouseId: string;
  readonly catalog: string;
  readonly schema: string;
}

interface DatabricksLimits extends CallLimits {
  readonly maxRows: number;
}

const rowsSchema = z.array(z.array(z.string().nullable()));
/** One part of a result. Without rows it is absent, or has no members. */
const chunkSchema = z.looseObject({
  data_array: rowsSchema.nullish(),
  next_chunk_index: z.number().int().nullish(),
  external_links: z
    .array(
      z.looseObject({ external_link: z.string(), next_chunk_index: z.number().int().nullish() }),
    )
    .nullish(),
});
type ResultChunk = z.infer<typeof chunkSchema>;
const columnSchema = z.looseObject({ name: z.string(), type_text: z.string() });
const answerSchema = z.looseObject({
  statement_id: z.string().regex(/^[\w-]+$/),
  status: z.looseObject({
    state: z.string(),
    error: z
      .looseObject({
        error_code: z.union([z.string(), z.number()]).nullish(),
        message: z.string().nullish(),
      })
      .nullish(),
  }),
  manifest: z
    .looseObject({
      schema: z.looseObject({ columns: z.array(columnSchema).nullish() }).nullish(),
      truncated: z.boolean().nullish(),
      total_row_count: z.number().nullish(),
    })
    .nullish(),
  result: chunkSchema.nullish(),
});
type StatementAnswer = z.infer<typeof answerSchema>;
/** The body of an answer that is no 200; older ones have a number as code. */
const refusalSchema = z.looseObject({
  error_code: z.union([z.string(), z.number()]).optional(),
  message: z.string().optional(),
});

/** In milliseconds, between two questions whether a statement is done. */
const [firstPause, longestPause] = [20, 1000];
/** In milliseconds, for what is sent after a call was given up. */
const cleanUpTime = 5000;
/** In milliseconds: a warehouse that is stopped starts before it takes a statement. */
const postTime = 60_000;
const mostPlanLines = 100_000;
const waiting: readonly string[] = ['PENDING', 'RUNNING'];

/** Speaks the Statement Execution API 2.0. */
export class DatabricksConnection {
  readonly #client: RestClient;
  readonly #settings: DatabricksSettings;
  readonly #server: string;

  constructor(settings: DatabricksSettings, login: DatabricksLogin) {
    this.#settings = settings;
    this.#server = new URL(settings.baseUrl).host;
    this.#client = openRest({
      connection: settings.connection,
      baseUrl: settings.baseUrl,
      login: login.headers,
      headers: { 'user-agent': 'ktx' },
    });
  }

  /** Runs one statement. A statement that is given up is cancelled on the server. */
  run(sql: string, limits: DatabricksLimits): Promise<QueryRows> {
    const abort = new AbortController();
    return withTimeLimit(
      {
        ...limits,
        cancel: () => abort.abort(),
        hintIfRunning: 'The query history of the workspace shows it.',
      },
      () => this.#runOnce(sql, { maxRows: limits.maxRows, signal: abort.signal }),
    ).catch(translateError(databricksErrors(this.#server)));
  }

  /** Throws unless the plan of the statement only reads; runs nothing of it. */
  async explain(sql: string, limits: CallLimits): Promise<void> {
    await this.run(`EXPLAIN ${sql}`, { ...limits, maxRows: mostPlanLines })
      .then(requireReadingPlan)
      .catch(translateError(databricksErrors(this.#server)));
  }

  close(): void {
    this.#client.close();
  }

  async #runOnce(sql: string, call: StatementCall): Promise<QueryRows> {
    const answer = await this.#execute(sql, 'INLINE', call);
    // More than 25 MiB are not returned in the answers themselves.
    const isTooLarge = answer.status.state === 'FAILED' && /EXTERNAL_LINKS/.test(messageOf(answer));
    const done = isTooLarge ? await this.#execute(sql, 'EXTERNAL_LINKS', call) : answer;
    const { state } = done.status;
    if (state !== 'SUCCEEDED') throw stateError(done);
    return this.#readRows(done, call);
  }

  /** Sends a statement and waits until it is done. */
  async #execute(
    statement: string,
    disposition: 'INLINE' | 'EXTERNAL_LINKS',
    { maxRows, signal }: StatementCall,
  ): Promise<StatementAnswer> {
    const { warehouseId, catalog, schema } = this.#settings;
    // The call returns at once with the id, without which nothing can be cancelled.
    const posted = this.#send(
      {
        method: 'POST',
        path: 'api/2.0/sql/statements',
        json: {
          statement,
          warehouse_id: warehouseId,
          catalog,
          schema,
          row_limit: maxRows + 1,
          wait_timeout: '0s',
          on_wait_timeout: 'CONTINUE',
          disposition,
          format: 'JSON_ARRAY',
        },
      },
      AbortSignal.timeout(postTime),
    );
    let answer = await unlessAborted(posted, signal, (late) => void this.#cancel(late));
    try {
      for (let wait = firstPause; waiting.includes(answer.status.state); wait *= 2) {
        await pause(Math.min(wait, longestPause), undefined, { signal });
        const path = `api/2.0/sql/statements/${answer.statement_id}`;
        answer = await this.#send({ method: 'GET', path }, signal);
      }
    } catch (error) {
      await this.#cancel(answer);
      throw error;
    }
    return answer;
  }

  async #readRows(answer: StatementAnswer, { maxRows, signal }: StatementCall): Promise<QueryRows> {
    const { manifest, statement_id: id } = answer;
    const columns = (manifest?.schema?.columns ?? []).map((column) => ({
      name: column.name,
      type: databricksFieldType(column.type_text),
    }));
    const types = columns.map(({ type }) => type);
    const countBytes = limitResultSize();
    const rows: (readonly Cell[])[] = [];
    let chunk: ResultChunk | undefined = answer.result ?? undefined;
    for (let index = 0; chunk !== undefined;) {
      for await (const part of partsOf(chunk, this.#settings.baseUrl, signal)) {
        countBytes(sizeOf(part));
        for (const row of part) rows.push(typedRow(row, types));
      }
      const next = nextChunk(chunk);
      if (rows.length > maxRows || next === undefined) break;
      if (next <= index) throw new Error('it sent a part of the result again');
      index = next;
      const path = `api/2.0/sql/statements/${id}/result/chunks/${next}`;
      chunk = await this.#readAs(chunkSchema, { method: 'GET', path }, signal);
    }
    const truncated = rows.length > maxRows || manifest?.truncated === true;
    if (!truncated) requireWhole(rows.length, manifest?.total_row_count);
    return { columns, rows: rows.slice(0, maxRows), truncated };
  }

  #send(request: Parameters<RestClient['send']>[0], signal: AbortSignal): Promise<StatementAnswer> {
    return this.#readAs(answerSchema, request, signal);
  }

  async #readAs<T>(
    schema: z.ZodType<T>,
    request: Parameters<RestClient['send']>[0],
    signal: AbortSignal,
  ): Promise<T> {
    const answer = await this.#client.send(request, signal);
    if (answer.status !== 200) throw refusalError(this.#server, answer);
    const read = schema.safeParse(jsonOrNothing(answer.text));
    if (read.success) return read.data;
    throw new Error('it sent an answer that is none of the Statement Execution API');
  }

  /** It has its own time, since the call may be over. */
  async #cancel({ statement_id: id }: StatementAnswer): Promise<void> {
    const path = `api/2.0/sql/statements/${id}/cancel`;
    await this.#client
      .send({ method: 'POST', path, repeatable: true }, AbortSignal.timeout(cleanUpTime))
      .catch(() => undefined);
  }
}

interface StatementCall {
  readonly maxRows: number;
  readonly signal: AbortSignal;
}

/** Waits for the result, or for the signal; what comes after the signal is handed to `tooLate`. */
async function unlessAborted<T>(
  result: Promise<T>,
  signal: AbortSignal,
  tooLate: (value: T) => void,
): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const stop = (): void => aborted.reject(signal.reason as Error);
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    return await Promise.race([result, aborted.promise]);
  } catch (error) {
    if (signal.aborted) result.then(tooLate, () => undefined);
    throw error;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

type ResultPart = z.infer<typeof rowsSchema>;

/** One after another: each may be as large as a result. */
async function* partsOf(
  { data_array: rows, external_links: links }: ResultChunk,
  workspace: string,
  signal: AbortSignal,
): AsyncGenerator<ResultPart> {
  yield rows ?? [];
  for (const { external_link: link } of links ?? [])
    yield rowsSchema.parse(jsonOrNothing(await readLink(link, workspace, signal)));
}

function sizeOf(part: ResultPart): number {
  return part.reduce(
    (sum, row) => row.reduce((soFar, cell) => soFar + (cell?.length ?? 4), sum + 2),
    0,
  );
}

function nextChunk(chunk: ResultChunk): number | undefined {
  return chunk.external_links?.at(-1)?.next_chunk_index ?? chunk.next_chunk_index ?? undefined;
}

function requireWhole(read: number, announced: number | null | undefined): void {
  if ((announced ?? read) !== read)
    throw new Error(`it announced ${announced} rows and sent ${read}`);
}

function typedRow(row: readonly (string | null)[], types: readonly FieldType[]): readonly Cell[] {
  if (row.length !== types.length) throw new Error('it sent a row of other columns');
  return row.map((cell, index) => databricksCell(cell, types[index] ?? 'unknown'));
}

function messageOf({ status }: StatementAnswer): string {
  return (status.error?.message ?? '').trim();
}

function stateError(answer: StatementAnswer): Error {
  const { state, error } = answer.status;
  const code = state === 'FAILED' ? String(error?.error_code ?? 'UNKNOWN_ERROR') : state;
  return Object.assign(new Error(messageOf(answer) || `the statement ended as ${state}`), { code });
}

/** For an answer that is no 200. Its text is not quoted where it is about the login. */
function refusalError(server: string, answer: RestAnswer): Error {
  const { error_code: code, message } =
    refusalSchema.safeParse(jsonOrNothing(answer.text)).data ?? {};
  if (answer.status === 401 || (answer.status === 403 && code !== 'PERMISSION_DENIED'))
    return warehouseError('warehouse_auth', `${server} refused the login.`, {
      hint: 'Check token, or client_id and client_secret, of the connection.',
    });
  if (answer.status === 404)
    return warehouseError('warehouse_not_found', `${server}: ${message ?? 'not found'}`, {
      hint: 'Check url and warehouse_id of the connection in ktx.yaml.',
    });
  if (message === undefined || typeof code !== 'string') return unexpectedAnswer(server, answer);
  return Object.assign(new Error(message), { code });
}
