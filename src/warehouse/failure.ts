import { errorMessage, UserError, type UserErrorOptions } from '../lib/error.ts';

/** Every way in which a warehouse fails: what to type next, the exit code, whether to try again. */
const failures = {
  warehouse_auth: {
    exitCode: 4,
    hint: 'Check user and password of the connection; a password is given as password: env:NAME.',
  },
  warehouse_unreachable: {
    retryable: true,
    hint: 'Check host, port and network of the connection, and that the server runs; of a file, that this user may read it.',
  },
  warehouse_insecure: {
    exitCode: 4,
    hint: 'Name the certificate of its authority with ca of the connection; on a network that you trust, ssl: no-verify or ssl: off.',
  },
  warehouse_not_found: {
    exitCode: 2,
    hint: 'Check path or database of the connection in ktx.yaml; relative paths start at its folder.',
  },
  warehouse_privilege: {
    hint: 'Let the user of the connection read it: GRANT SELECT on the table, USAGE on its schema.',
  },
  warehouse_locked: {
    retryable: true,
    hint: 'Close the process that writes to it, or point the connection to a copy.',
  },
  not_a_database: {
    exitCode: 2,
    hint: 'Point the path of the connection to files that its driver reads; repair or remove those that it cannot.',
  },
  config_url: { exitCode: 2 },
  missing_object: { hint: '`ktx search` lists tables and columns.' },
  query_timeout: {
    retryable: true,
    hint: 'Narrow it (filter, fewer columns), or allow more time with --timeout.',
  },
  query_cancelled: { exitCode: 130, retryable: true },
  query_failed: { hint: 'Check the SQL; it must be in the dialect of the connection.' },
  not_a_time_value: {
    hint: "Convert it in the field, like expr: datetime(at, 'unixepoch') or expr: substr(at, 7) || '-' || substr(at, 4, 2) || '-' || substr(at, 1, 2).",
  },
  sql_syntax: {
    hint: 'Check the SQL near that place; it must be in the dialect of the connection.',
  },
  statement_too_long: {
    exitCode: 2,
    hint: 'Shorten it; in place of a long list of values, join the table that has them.',
  },
  gate_refused: {
    hint: 'Write one SELECT over the tables of this connection; `ktx search` lists them.',
  },
} as const satisfies Record<string, UserErrorOptions>;

export function failure(
  code: keyof typeof failures,
  message: string,
  options: UserErrorOptions = {},
): UserError {
  return new UserError(code, message, { ...failures[code], ...options });
}

/** The gate's no to a text that cannot be parsed at all. */
export function unparsed(reason: string, options: UserErrorOptions = {}): UserError {
  return failure('sql_syntax', reason, { ...options, details: { rule: 'parse' } });
}

/** The gate's no. `rule` says which of its rules; `engine` where the database itself refused. */
export function refused(
  rule: 'statement' | 'node' | 'function' | 'table' | 'parse' | 'engine',
  reason: string,
  hint?: string,
): UserError {
  const options = hint === undefined ? {} : { hint };
  return failure('gate_refused', `Refused, ktx only reads: ${reason}`, {
    details: { rule },
    ...options,
  });
}

/** How one engine fails: what its error matches, what that means, and the words that stand before the engine's own. */
export type FailureRules = readonly (readonly [RegExp, keyof typeof failures, string])[];

/** For `catch`: throws what the first rule that matches `code: message` makes of an error; errors of ktx, and those of no rule, as they are. */
export function explaining(rules: FailureRules): (error: unknown) => never {
  return (error) => {
    if (error instanceof UserError) throw error;
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    const message = errorMessage(error).split('\n\n')[0] ?? '';
    const [, meaning, words] = rules.find(([pattern]) => pattern.test(`${code}: ${message}`)) ?? [];
    if (meaning === undefined) throw error;
    throw meaning === 'gate_refused'
      ? refused('engine', message)
      : failure(meaning, `${words}: ${message || code}`);
  };
}
