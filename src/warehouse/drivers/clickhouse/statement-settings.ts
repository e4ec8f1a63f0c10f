import { clickhouse } from '../../../sql/dialects/clickhouse.ts';
import type { ClickhouseConfig } from './config.ts';
import type { ServerSettings } from './connection.ts';

/** What the profile of a login allows; 0 is no limit. */
export interface LoginLimits {
  /** 2: the login may change settings and nothing else. */
  readonly readonly: number;
  readonly maxMemory: number;
  readonly maxBytesToRead: number;
}

const megabyte = 2 ** 20;

/** Settings that a profile can have and that would make a result quietly incomplete. */
const wholeResults: ServerSettings = {
  limit: '0',
  offset: '0',
  skip_unavailable_shards: '0',
  ...Object.fromEntries(
    'timeout read group_by sort distinct set join transfer'
      .split(' ')
      .map((what) => [`${what}_overflow_mode`, 'throw']),
  ),
};

/**
 * Rows without a partner have NULL, not zeros and empty texts. Only compiled statements get the
 * setting for sums of nothing: with it, sumMerge takes no stored state.
 */
const standardSql: ServerSettings = { join_use_nulls: '1' };

/** How values are written, so that every digit arrives. */
const exactValues: ServerSettings = {
  output_format_json_quote_64bit_integers: '0',
  output_format_json_quote_decimals: '0',
  output_format_json_quote_denormals: '1',
  date_time_output_format: 'iso',
  session_timezone: 'UTC',
};

/** What every statement of people is sent with. The row limit is added to each. */
export function statementSettings(
  { max_memory_mb: memory = 4096, max_read_mb: read }: ClickhouseConfig,
  login: LoginLimits,
): ServerSettings {
  const maxRead = smallest(read === undefined ? 0 : read * megabyte, login.maxBytesToRead);
  return {
    ...standardSql,
    ...wholeResults,
    ...exactValues,
    max_memory_usage: String(smallest(memory * megabyte, login.maxMemory)),
    ...(maxRead > 0 && { max_bytes_to_read: String(maxRead) }),
    // Ends a statement whose client is gone.
    cancel_http_readonly_queries_on_client_close: '1',
    log_comment: 'ktx',
    // A login that has 2 may not change it; with it, nothing can be written either.
    ...(login.readonly === 0 && { readonly: '1' }),
  };
}

/** The limit of one statement, if it is smaller than that of the connection. */
export function readLimit(settings: ServerSettings, maxBytes: number | undefined): ServerSettings {
  if (maxBytes === undefined) return {};
  const allowed = Number(settings['max_bytes_to_read'] ?? 0);
  // 0 would be no limit.
  return { max_bytes_to_read: String(smallest(Math.max(1, Math.floor(maxBytes)), allowed)) };
}

/**
 * The settings that ktx writes at the end of the statements that it compiles. They have to be sent
 * beside the text too: a login that may only read may only repeat them there.
 */
export function splitOwnSettings(sql: string): {
  readonly text: string;
  readonly settings: ServerSettings;
} {
  const text = sql.trimEnd().replace(/;{1,100}$/, '');
  const { settings = '' } = clickhouse;
  if (settings === '' || !text.endsWith(settings)) return { text, settings: {} };
  const pairs = settings.matchAll(/(\w+) = (\w+)/g);
  return {
    text: text.slice(0, -settings.length),
    settings: Object.fromEntries([...pairs].map(([, name = '', value = '']) => [name, value])),
  };
}

/** The smaller of two limits, of which 0 is none. */
function smallest(one: number, other: number): number {
  return one === 0 || other === 0 ? Math.max(one, other) : Math.min(one, other);
}
