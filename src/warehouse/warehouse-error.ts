import { errorMessage, UserError, type UserErrorOptions } from '../lib/error.ts';

/** Every way a warehouse can fail, with the hint, the exit code, and whether a retry can help. */
const errorDefaults = {
  warehouse_auth: {
    exitCode: 4,
    hint: 'Check user and password of the connection; write a password as password: env:NAME.',
  },
  warehouse_unreachable: {
    retryable: true,
    hint: 'Check host, port and network of the connection, and that the server runs. If it is a file, check that you may read it.',
  },
  warehouse_insecure: {
    exitCode: 4,
    hint: 'Set ca of the connection to the certificate of the authority; on a network that you trust, use ssl: no-verify or ssl: off.',
  },
  warehouse_not_found: {
    exitCode: 2,
    hint: 'Check path or database of the connection in ktx.yaml. A relative path starts at the folder of ktx.yaml.',
  },
  warehouse_privilege: {
    hint: 'Give the login read access: GRANT SELECT on the table, USAGE on its schema.',
  },
  warehouse_locked: {
    retryable: true,
    hint: 'Close the process that writes to it, or point the connection to a copy.',
  },
  not_a_database: {
    exitCode: 2,
    hint: 'Repair or remove the file, or set path of the connection to files that its driver can read.',
  },
  path_outside_project: {
    exitCode: 2,
    hint: 'Put the file itself into the folder, or give its own folder a connection.',
  },
  config_url: { exitCode: 2 },
  identity_unknown: { exitCode: 4 },
  missing_object: { hint: '`ktx search` lists tables and columns.' },
  query_timeout: {
    retryable: true,
    hint: 'Narrow it (filter, fewer columns), or allow more time with --timeout.',
  },
  out_of_memory: {
    hint: 'Read less at once: filter, select fewer or shorter values, group into fewer rows, or aggregate before you join.',
  },
  too_expensive: {
    hint: 'Narrow it (a time, fewer columns), or allow more with --max-bytes, query.max_bytes in ktx.yaml, or max_read_mb of the connection.',
  },
  query_cancelled: { exitCode: 130, retryable: true },
  query_failed: { hint: 'Check the SQL; it must be in the dialect of the connection.' },
  not_a_time_value: {
    hint: "Convert it in the field, like expr: datetime(at, 'unixepoch') or expr: substr(at, 7) || '-' || substr(at, 4, 2) || '-' || substr(at, 1, 2).",
  },
  not_a_number_value: {
    hint: "Convert it in the field, like expr: CAST(replace(amount, ',', '.') AS REAL), or filter such rows out.",
  },
  sql_syntax: {
    hint: 'Check the SQL near that place. It must be in the dialect of the connection.',
  },
  statement_too_long: {
    exitCode: 2,
    hint: 'Shorten it. Instead of a long list of values, join a table that has them.',
  },
  gate_refused: {
    hint: 'Write one SELECT over the tables of this connection; `ktx search` lists them.',
  },
} as const satisfies Record<string, UserErrorOptions>;

export type WarehouseErrorCode = keyof typeof errorDefaults;

/** The error for a code; `options` override its default hint, exit code and so on. */
export function warehouseError(
  code: WarehouseErrorCode,
  message: string,
  options: UserErrorOptions = {},
): UserError {
  return new UserError(code, message, { ...errorDefaults[code], ...options });
}

/** The gate's error for a text that cannot be parsed. */
export function sqlSyntaxError(reason: string, options: UserErrorOptions = {}): UserError {
  return warehouseError('sql_syntax', reason, { ...options, details: { rule: 'parse' } });
}

/**
 * The gate's error for a statement that may do more than read. `rule` is the rule that it breaks;
 * `engine`: the database refused it.
 */
export function gateRefusal(
  rule: 'statement' | 'node' | 'function' | 'table' | 'parse' | 'engine',
  reason: string,
  hint?: string,
): UserError {
  const options = hint === undefined ? {} : { hint };
  return warehouseError('gate_refused', `Refused, ktx only reads: ${reason}`, {
    details: { rule },
    ...options,
  });
}

/**
 * How to translate an engine's errors: a pattern for `code: message`, the code it means, and the
 * words before the engine's own message. The first match wins.
 */
export type ErrorRules = readonly (readonly [
  pattern: RegExp,
  code: WarehouseErrorCode,
  prefix: string,
])[];

/**
 * For `.catch(…)`: throws the translated error. A `UserError`, and an error that no rule matches,
 * are thrown unchanged.
 */
export function translateError(rules: ErrorRules): (error: unknown) => never {
  return (error) => {
    if (error instanceof UserError) throw error;
    const engineCode = error instanceof Error && 'code' in error ? String(error.code) : '';
    const [message = ''] = errorMessage(error).split(/\n\n|\s*Candidate functions:/);
    const rule = rules.find(([pattern]) => pattern.test(`${engineCode}: ${message}`));
    if (rule === undefined) throw error;
    const [, code, prefix] = rule;
    throw code === 'gate_refused'
      ? gateRefusal('engine', message)
      : warehouseError(code, `${prefix}: ${message || engineCode}`, quotesHint(code, message));
  };
}

const unknownColumn =
  /no such column: (?<a>\w+)$|column "(?<b>\w+)" does not exist|Referenced column "(?<c>\w+)"|Unknown column '(?<d>\w+)'/;

/** Who writes `country = USA` is told how text is written. */
function quotesHint(code: WarehouseErrorCode, message: string): UserErrorOptions {
  const groups = code === 'missing_object' ? unknownColumn.exec(message)?.groups : undefined;
  const [name] = Object.values(groups ?? {}).filter((text) => text !== undefined);
  if (name === undefined) return {};
  const { hint } = errorDefaults.missing_object;
  return { hint: `${hint} If ${name} is text and no column, put it in quotes: '${name}'.` };
}
