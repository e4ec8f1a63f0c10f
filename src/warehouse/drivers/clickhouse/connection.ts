import { type ClickHouseClient, createClient, ClickHouseLogLevel } from '@clickhouse/client';
import type { Readable } from 'node:stream';
import type { FieldType } from '../../../sql/field-type.ts';
import type { QueryRows } from '../../driver.ts';
import { limitResultSize } from '../../result-size.ts';
import { type CallLimits, withTimeLimit } from '../../time-limit.ts';
import { translateError } from '../../warehouse-error.ts';
import type { Cell } from '../../warehouse.ts';
import { clickhouseErrors, exceptionIn } from './errors.ts';
import type { ClickhouseSettings } from './settings.ts';
import { clickhouseCell, parseRow, readType } from './values.ts';

/** Settings of the server, by name; sent beside the statement, never as text. */
export type ServerSettings = Readonly<Record<string, string>>;

export interface StatementLimits extends CallLimits {
  readonly maxRows: number;
  readonly settings: ServerSettings;
  /** Instead of the roles that the login begins with. */
  readonly role?: string | undefined;
}

/** How every answer is written. */
const formatSettings: ServerSettings = {
  default_format: 'JSONCompactEachRowWithNamesAndTypes',
};

export class ClickhouseConnection {
  readonly #client: ClickHouseClient;
  readonly #settings: ClickhouseSettings;

  constructor(settings: ClickhouseSettings) {
    this.#settings = settings;
    this.#client = createClient({
      url: settings.origin,
      http_agent: settings.agent,
      username: settings.user,
      password: settings.password,
      database: settings.database,
      application: 'ktx',
      log: { level: ClickHouseLogLevel.OFF },
      // The time limit is ours.
      request_timeout: 2 ** 31 - 1,
    });
  }

  /** Runs one statement. A statement that is given up is ended on the server. */
  run(sql: string, limits: StatementLimits): Promise<QueryRows> {
    const queryId = `ktx-${crypto.randomUUID()}`;
    const abort = new AbortController();
    const { origin } = this.#settings;
    const cancel = (): void => {
      this.#kill(queryId);
      abort.abort();
    };
    return withTimeLimit(
      {
        ...limits,
        cancel,
        hintIfRunning: `SELECT * FROM system.processes shows it as ${queryId}.`,
      },
      async (milliseconds) => {
        const { stream, response_headers: headers } = await this.#client.exec({
          query: sql,
          query_id: queryId,
          abort_signal: abort.signal,
          ...(limits.role !== undefined && { role: limits.role }),
          clickhouse_settings: {
            ...formatSettings,
            ...limits.settings,
            ...(Object.keys(limits.settings).length > 0 && {
              max_execution_time: Math.ceil(milliseconds / 1000) + 1,
            }),
          },
        });
        try {
          const rows = await readRows(stream, limits.maxRows);
          return { ...rows, ...costOf(headers['x-clickhouse-summary']) };
        } finally {
          stream.destroy();
        }
      },
    ).catch(translateError(clickhouseErrors(origin)));
  }

  async close(): Promise<void> {
    await this.#client.close();
    this.#settings.agent.destroy();
  }

  /** The server also notices that the client is gone, but only while it sends. */
  #kill(queryId: string): void {
    this.#client
      .command({ query: `KILL QUERY WHERE query_id = '${queryId}' ASYNC` })
      .catch(() => undefined);
  }
}

function costOf(summary: unknown): Pick<QueryRows, 'cost'> {
  if (typeof summary !== 'string') return {};
  const { read_rows: rowsRead, read_bytes: bytesRead } = JSON.parse(summary) as Record<
    string,
    string
  >;
  return { cost: { rowsRead: Number(rowsRead), bytesRead: Number(bytesRead) } };
}

async function readRows(stream: Readable, maxRows: number): Promise<QueryRows> {
  const countBytes = limitResultSize();
  let names: readonly string[] | undefined;
  let types: readonly FieldType[] | undefined;
  const rows: Cell[][] = [];
  for await (const line of linesOf(stream, countBytes)) {
    const cells = rowOf(line);
    if (names === undefined) names = cells.map(String);
    else if (types === undefined) types = cells.map((type) => readType(String(type)).type);
    else if (rows.length === maxRows)
      return { columns: columnsOf(names, types), rows, truncated: true };
    else rows.push(cells.map((cell, index) => clickhouseCell(cell, types?.[index] ?? 'unknown')));
  }
  return { columns: columnsOf(names, types), rows, truncated: false };
}

function columnsOf(names: readonly string[] = [], types: readonly FieldType[] = []) {
  return names.map((name, index) => ({ name, type: types[index] ?? ('unknown' as const) }));
}

/** A server that fails after its first rows writes the error where the next row would be. */
function rowOf(line: string): readonly unknown[] {
  try {
    return parseRow(line);
  } catch (error) {
    throw exceptionIn(line) ?? error;
  }
}

async function* linesOf(
  stream: Readable,
  countBytes: (size: number) => void,
): AsyncGenerator<string> {
  let parts: Buffer[] = [];
  for await (const chunk of stream) {
    let rest = chunk as Buffer;
    countBytes(rest.length);
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      const line = Buffer.concat([...parts, rest.subarray(0, end)]).toString('utf8');
      [parts, rest] = [[], rest.subarray(end + 1)];
      if (line !== '') yield line;
    }
    if (rest.length > 0) parts.push(rest);
  }
  const last = Buffer.concat(parts).toString('utf8');
  if (last !== '') yield last;
}
