import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { backOff } from '../../../http/retry-pause.ts';
import { parseJson } from '../../../lib/json.ts';
import {
  openRest,
  type RestAnswer,
  type RestRequest,
  unexpectedAnswer,
} from '../../rest/client.ts';
import { warehouseError } from '../../warehouse-error.ts';
import { BigqueryError, errorIn, isPassingReason } from './errors.ts';
import type { GoogleLogin } from './login/login.ts';
import { withoutSecrets } from './login/token-request.ts';

/** The REST API, version 2. Errors of the API are thrown as `BigqueryError`. */
export interface BigqueryApi {
  /** The answer to a request below `bigquery/v2`, checked by the schema. */
  read<T>(request: RestRequest, schema: z.ZodType<T>, signal: AbortSignal): Promise<T>;
  /** All elements of a list that is read in pages: those under `key` of each page. */
  list<T>(request: ListRequest<T>, signal: AbortSignal): Promise<readonly T[]>;
  /** Throws `warehouse_unreachable` if several requests together take longer than that. */
  inTime<T>(
    limit: { readonly signal: AbortSignal; readonly milliseconds: number },
    work: (limited: AbortSignal) => Promise<T>,
  ): Promise<T>;
  close(): void;
}

interface ListRequest<T> {
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly key: string;
  readonly element: z.ZodType<T>;
  /** The list ends with the page that has the last of them. Default: 100,000. */
  readonly atMost?: number;
}

export const defaultEndpoint = 'https://bigquery.googleapis.com';
const mostTries = 4;
const longestList = 100_000;
/** In a row. The list of jobs has some. */
const mostEmptyPages = 100;
/**
 * In milliseconds, for one answer or a whole list: the API waits at most ten seconds for the end of
 * a job.
 */
const longestRequest = 300_000;

export function openApi(
  { connection, endpoint }: { readonly connection: string; readonly endpoint: string },
  login: GoogleLogin,
): BigqueryApi {
  const { host } = new URL(endpoint);
  const rest = openRest({
    connection,
    baseUrl: `${endpoint.replace(/\/*$/, '')}/bigquery/v2`,
    login: (fresh, signal) => login.headers(fresh, signal),
  });
  const send = async (request: RestRequest, signal: AbortSignal): Promise<RestAnswer> => {
    for (let tries = 1; ; tries += 1) {
      const answer = await inTime({ host, signal, milliseconds: longestRequest }, (limited) =>
        rest.send(request, limited),
      );
      if (answer.status >= 200 && answer.status < 300) return answer;
      const error = failure(answer);
      const isPassing = error instanceof BigqueryError && isPassingReason(error);
      if (!isPassing || tries >= mostTries) throw error;
      await pause(backOff(tries), undefined, { signal });
    }
  };
  /** A server can repeat the login of a request in its answer. */
  const failure = (answer: RestAnswer): Error => {
    const text = withoutSecrets(answer.text, login.secrets());
    const error = errorIn(answer);
    if (error !== undefined) {
      const message = withoutSecrets(error.message, login.secrets());
      const reason = answer.status === 401 ? 'authError' : error.code;
      return new BigqueryError(reason, message, error.status);
    }
    return answer.status === 401
      ? new BigqueryError('authError', `${host} answers 401`, 401)
      : unexpectedAnswer(host, { ...answer, text });
  };
  const read: BigqueryApi['read'] = async (request, schema, signal) => {
    const { text } = await send(request, signal);
    const parsed = schema.safeParse(parseJson(text));
    if (parsed.success) return parsed.data;
    const [issue] = parsed.error.issues;
    throw warehouseError(
      'query_failed',
      `${host} does not answer like BigQuery: ${issue?.path.join('.') || 'the answer'}: ${issue?.message ?? ''}`,
      { hint: 'Check endpoint of the connection.' },
    );
  };
  return {
    read,
    list: (request, signal) =>
      inTime({ host, signal, milliseconds: longestRequest }, (limited) =>
        listPages({ host, read }, request, limited),
      ),
    inTime: (limit, work) => inTime({ host, ...limit }, work),
    close: () => rest.close(),
  };
}

interface ListedApi extends Pick<BigqueryApi, 'read'> {
  readonly host: string;
}

/** All elements of a list, page by page. */
async function listPages<T>(
  { host, read }: ListedApi,
  { path, query = {}, key, element: schema, atMost = longestList }: ListRequest<T>,
  signal: AbortSignal,
): Promise<readonly T[]> {
  const page = z.looseObject({ nextPageToken: z.string().optional() });
  const elements = z.array(schema).default([]);
  const all: T[] = [];
  let token: string | undefined;
  let emptyPages = 0;
  do {
    const pageQuery = token === undefined ? query : { ...query, pageToken: token };
    const answer = await read({ method: 'GET', path, query: pageQuery }, page, signal);
    const next = answer.nextPageToken;
    if (next !== undefined && next === token)
      throw warehouseError('query_failed', `${host} sends the same page of a list again.`);
    const onPage = elements.parse(answer[key]);
    emptyPages = onPage.length === 0 ? emptyPages + 1 : 0;
    if (emptyPages > mostEmptyPages)
      throw warehouseError('query_failed', `${host} sends empty pages of a list and no end.`);
    for (const element of onPage) all.push(element);
    token = next;
  } while (token !== undefined && all.length < atMost);
  return all;
}

interface RequestTime {
  readonly host: string;
  readonly signal: AbortSignal;
  readonly milliseconds: number;
}

/** Gives the work up when its time is over, however often the server answers. */
async function inTime<T>(
  { host, signal, milliseconds }: RequestTime,
  work: (limited: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = new AbortController();
  const timer = setTimeout(
    () => late.abort(warehouseError('warehouse_unreachable', `${host} does not end its answer.`)),
    milliseconds,
  );
  try {
    return await work(AbortSignal.any([signal, late.signal]));
  } finally {
    clearTimeout(timer);
  }
}

/** `projects/<project>/<parts…>`, each part as it may stand in an address. */
export function projectPath(project: string, ...parts: readonly string[]): string {
  return ['projects', project, ...parts].map(encodeURIComponent).join('/');
}
