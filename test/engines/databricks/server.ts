import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { scansIn } from '../duckdb-plan.ts';
import { type EngineRows, openDuckdbRows } from '../duckdb-rows.ts';
import { mendTranslation, metadataScript, withOwnCatalogs } from './metadata.ts';
import { describeColumn, valueText } from './values.ts';

interface DatabricksServerOptions {
  /** SQL of DuckDB; its database is the catalog `memory`, with the schema `main`. */
  readonly script?: string;
  /** A service principal, whose tokens the server makes; without it, the token is `dapi-token`. */
  readonly principal?: { readonly id: string; readonly secret: string };
}

interface DatabricksRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  /** The statement that is sent or asked for. */
  readonly sql: string;
}

/** Answers a request in place of the server; false leaves it alone. */
type Fault = (request: DatabricksRequest, response: ServerResponse) => boolean;

export interface DatabricksServer {
  readonly origin: string;
  readonly requests: DatabricksRequest[];
  /** What the storage of results was asked. */
  readonly storageRequests: DatabricksRequest[];
  readonly rules: {
    rowsPerChunk: number;
    /** In characters; beyond that, a result is not returned inline. */
    inlineLimit: number;
    /** Tokens of a principal that the server does not take any longer. */
    expired: Set<string>;
    /** Whether the server knows how large tables are. */
    hasStatistics: boolean;
    fault: Fault | undefined;
  };
  running(): readonly string[];
  execute(script: string): Promise<void>;
  close(): Promise<void>;
}

interface Statement {
  readonly id: string;
  readonly sql: string;
  readonly isExternal: boolean;
  readonly rowLimit: number;
  readonly abort: AbortController;
  state: 'PENDING' | 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'CANCELED';
  answer?: EngineRows;
  error?: { readonly error_code: string; readonly message: string };
}

const noRows: Promise<Pick<EngineRows, 'rows'>> = Promise.resolve({ rows: [] });
const base = '/api/2.0/sql/statements';
const rowBytes = 8;

/** Speaks the Statement Execution API 2.0 as its documentation and recorded answers have it. */
export async function startDatabricks(
  options: DatabricksServerOptions = {},
): Promise<DatabricksServer> {
  const duckdb = await openDuckdbRows(`${metadataScript};${options.script ?? ''}`);
  const rules: DatabricksServer['rules'] = {
    rowsPerChunk: 1000,
    inlineLimit: 25 * 2 ** 20,
    expired: new Set(),
    hasStatistics: true,
    fault: undefined,
  };
  const statements = new Map<string, Statement>();
  const requests: DatabricksRequest[] = [];
  const storageRequests: DatabricksRequest[] = [];
  const tokens = new Set(options.principal === undefined ? ['dapi-token'] : []);

  const start = (body: string): Statement => {
    const given = JSON.parse(body) as Readonly<Record<string, string>>;
    const statement: Statement = {
      id: crypto.randomUUID(),
      sql: given['statement'] ?? '',
      isExternal: given['disposition'] === 'EXTERNAL_LINKS',
      rowLimit: Number(given['row_limit'] ?? Infinity),
      abort: new AbortController(),
      state: 'PENDING',
    };
    statements.set(statement.id, statement);
    setImmediate(() => void run(statement));
    return statement;
  };

  const run = async (statement: Statement): Promise<void> => {
    if (statement.state === 'PENDING') statement.state = 'RUNNING';
    try {
      statement.answer = await answerStatement(statement);
      const size = JSON.stringify(statement.answer.rows).length;
      if (!statement.isExternal && size > rules.inlineLimit)
        throw new Error(
          `Inline byte limit exceeded. Statements executed with disposition=INLINE can have a result size of at most ${rules.inlineLimit} bytes. Please execute the statement with disposition=EXTERNAL_LINKS if you want to download the full result.`,
        );
      statement.state = 'SUCCEEDED';
    } catch (error) {
      statement.state = statement.abort.signal.aborted ? 'CANCELED' : 'FAILED';
      statement.error = { error_code: 'BAD_REQUEST', message: sparkMessage(error, statement.sql) };
    }
  };

  const answerStatement = async ({ sql, abort }: Statement): Promise<EngineRows> => {
    const [, cost, explained] = /^\s*EXPLAIN\b(\s+COST\b)?([^]*)$/i.exec(sql) ?? [];
    const ask = (text: string, prefix = '') =>
      duckdb.run(withOwnCatalogs(text), {
        dialect: 'databricks',
        rewrite: (translated) => prefix + mendTranslation(translated),
        signal: abort.signal,
      });
    if (explained === undefined) return ask(sql);
    const command = /^\s*(CREATE|DROP|ALTER|GRANT|TRUNCATE|OPTIMIZE|SET|USE|CALL)\b/i.exec(
      explained,
    );
    const { rows } = await (command === null ? ask(explained, 'EXPLAIN (FORMAT JSON) ') : noRows)
      // EXPLAIN itself succeeds.
      .catch((error: unknown) => ({
        rows: [['', `Error occurred during query planning: \n${sparkMessage(error, explained)}`]],
      }));
    const text = String(rows[0]?.[1]);
    if (text.startsWith('Error occurred'))
      return { columns: [{ name: 'plan', type: 'VARCHAR' }], rows: [[text]] };
    const name = /"name": "(INSERT|DELETE|UPDATE|MERGE_INTO)"/.exec(text)?.[1];
    const operator = command?.[1] ?? name;
    const node =
      operator === undefined ? 'PhotonScan parquet' : `Execute ${operator.toLowerCase()}Command`;
    const logical = cost === undefined ? '' : logicalPlan(text, rules);
    const plan = `${logical}== Physical Plan ==\n*(1) ${node}\n+- ColumnarToRow\n`;
    return { columns: [{ name: 'plan', type: 'VARCHAR' }], rows: [[plan]] };
  };

  const describe = (statement: Statement): object => {
    const { id, state, error, answer, rowLimit } = statement;
    const status = { state, ...(error !== undefined && { error }) };
    if (state !== 'SUCCEEDED' || answer === undefined) return { statement_id: id, status };
    const rows = answer.rows.slice(0, rowLimit);
    const count = Math.ceil(rows.length / rules.rowsPerChunk);
    return {
      statement_id: id,
      status,
      manifest: {
        format: 'JSON_ARRAY',
        schema: {
          column_count: answer.columns.length,
          columns: answer.columns.map(describeColumn),
        },
        total_chunk_count: count,
        total_row_count: rows.length,
        truncated: answer.rows.length > rowLimit,
      },
      result: count === 0 ? {} : chunkOf(statement, 0),
    };
  };

  const rowsOf = ({ answer, rowLimit }: Statement, index: number) => {
    const { columns, rows } = answer ?? { columns: [], rows: [] };
    return rows
      .slice(0, rowLimit)
      .slice(index * rules.rowsPerChunk, (index + 1) * rules.rowsPerChunk)
      .map((row) => row.map((cell, column) => valueText(cell, columns[column]?.type ?? '')));
  };

  const chunkOf = (statement: Statement, index: number): object => {
    const { id, answer, rowLimit, isExternal } = statement;
    const rows = rowsOf(statement, index);
    const all = Math.min(answer?.rows.length ?? 0, rowLimit);
    const isLast = (index + 1) * rules.rowsPerChunk >= all;
    const place = {
      chunk_index: index,
      row_offset: index * rules.rowsPerChunk,
      row_count: rows.length,
      ...(!isLast && {
        next_chunk_index: index + 1,
        next_chunk_internal_link: `${base}/${id}/result/chunks/${index + 1}`,
      }),
    };
    if (!isExternal) return { ...place, data_array: rows };
    const link = `${originOf(storage)}/results/${id}/${index}?X-Amz-Signature=presigned`;
    const expiration = new Date(Date.now() + 900_000).toISOString();
    return { external_links: [{ ...place, external_link: link, expiration }] };
  };

  const giveToken = (request: DatabricksRequest, response: ServerResponse): void => {
    const { id, secret } = options.principal ?? { id: '', secret: '' };
    const basic = `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
    const isAsked = request.body === 'grant_type=client_credentials&scope=all-apis';
    if (!isAsked || request.headers.authorization !== basic || options.principal === undefined)
      return sendJson(response, 401, { error: 'invalid_client', error_description: secret });
    const token = `oauth-${tokens.size + 1}`;
    tokens.add(token);
    sendJson(response, 200, { access_token: token, token_type: 'Bearer', expires_in: 3600 });
  };

  const answerApi = (request: DatabricksRequest, response: ServerResponse): void => {
    if (rules.fault?.(request, response) === true) return;
    if (request.path === '/oidc/v1/token') return giveToken(request, response);
    const token = /^Bearer (.*)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
    if (rules.expired.has(token)) return sendJson(response, 401, { message: 'Token expired' });
    if (!tokens.has(token))
      return sendJson(response, 403, { error_code: 403, message: 'Invalid access token.' });
    if (request.method === 'POST' && request.path === base)
      return sendJson(response, 200, describe(start(request.body)));
    answerStatementPath(request.path, response);
  };

  const answerStatementPath = (path: string, response: ServerResponse): void => {
    const [, id = '', rest = ''] = new RegExp(`^${base}/?([\\w-]*)/?(.*)$`).exec(path) ?? [];
    const statement = statements.get(id);
    const message = `The statement ${id} was not found.`;
    if (statement === undefined)
      return sendJson(response, 404, { error_code: 'RESOURCE_DOES_NOT_EXIST', message });
    if (rest === 'cancel') {
      statement.abort.abort();
      return sendJson(response, 200, {});
    }
    const chunk = /^result\/chunks\/(\d+)$/.exec(rest)?.[1];
    const answer = chunk === undefined ? describe(statement) : chunkOf(statement, Number(chunk));
    sendJson(response, 200, answer);
  };

  const answerStorage = (request: DatabricksRequest, response: ServerResponse): void => {
    storageRequests.push(request);
    const [, , id = '', index = ''] = new URL(request.path, 'http://storage').pathname.split('/');
    const statement = statements.get(id);
    if (request.headers.authorization !== undefined || statement === undefined)
      return sendJson(response, 400, { Code: 'InvalidArgument' });
    sendJson(response, 200, rowsOf(statement, Number(index)));
  };

  const sqlOf = (path: string, body: string): string => {
    if (path === base && body.startsWith('{'))
      return (JSON.parse(body) as { readonly statement?: string }).statement ?? '';
    return statements.get(path.split('/')[5] ?? '')?.sql ?? '';
  };
  const api = await listen((request, response, body) => {
    const { method = '', url: path = '', headers } = request;
    const seen = { method, path, headers, body, sql: sqlOf(path, body) };
    requests.push(seen);
    answerApi(seen, response);
  });
  const storage = await listen((request, response, body) => {
    const { method = '', url: path = '', headers } = request;
    answerStorage({ method, path, headers, body, sql: '' }, response);
  });
  return {
    origin: originOf(api),
    requests,
    storageRequests,
    rules,
    running: () =>
      [...statements.values()]
        .filter(({ state }) => state === 'RUNNING' || state === 'PENDING')
        .map(({ sql }) => sql),
    execute: (script) => duckdb.execute(script),
    async close() {
      for (const { abort } of statements.values()) abort.abort();
      for (const server of [api, storage]) {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      }
      while ([...statements.values()].some(({ state }) => state === 'RUNNING'))
        await new Promise((resolve) => setImmediate(resolve));
      duckdb.close();
    },
  };
}

/** The first part of what EXPLAIN COST says; each row counts as so many bytes. */
function logicalPlan(plan: string, { hasStatistics }: DatabricksServer['rules']): string {
  const relations = scansIn(JSON.parse(plan)).map(({ table, rows }) => {
    const size = hasStatistics ? `${(rows * rowBytes).toFixed(1)} B, rowCount=${rows}` : '8.0 EiB';
    return `   +- Relation ${table}[a#1] parquet, Statistics(sizeInBytes=${size})`;
  });
  const root = 'Project [a#1], Statistics(sizeInBytes=16.0 B)';
  return ['== Optimized Logical Plan ==', root, ...relations, '', ''].join('\n');
}

const classes: readonly (readonly [RegExp, string, string])[] = [
  [/^Parser Error/, 'PARSE_SYNTAX_ERROR', '42601'],
  [/cannot be translated/, 'PARSE_SYNTAX_ERROR', '42601'],
  [/Table with name/, 'TABLE_OR_VIEW_NOT_FOUND', '42P01'],
  [/Referenced column/, 'UNRESOLVED_COLUMN.WITH_SUGGESTION', '42703'],
  [/Function with name/, 'UNRESOLVED_ROUTINE', '42883'],
  [/^Binder Error/, 'GROUP_BY_AGGREGATE', '42903'],
];

/** What Databricks says where DuckDB says this. */
function sparkMessage(error: unknown, sql: string): string {
  const message = error instanceof Error ? error.message : String(error);
  const [line = ''] = message.split('\n');
  const found = classes.find(([pattern]) => pattern.test(message));
  if (found === undefined) return line;
  const [, name, state] = found;
  return `\n[${name}] ${line} SQLSTATE: ${state} (line 1, pos 0)\n\n== SQL ==\n${sql}\n^^^\n`;
}

function originOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function listen(
  answer: (request: IncomingMessage, response: ServerResponse, body: string) => void,
): Promise<Server> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => answer(request, response, Buffer.concat(chunks).toString('utf8')));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(value));
}
