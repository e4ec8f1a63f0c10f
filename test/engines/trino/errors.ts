/** An error as the server describes it in an answer. */
export class TrinoError extends Error {
  readonly errorName: string;
  readonly errorCode: number;
  readonly errorType: string;

  constructor(errorName: string, message: string, errorType = 'USER_ERROR') {
    super(message);
    this.errorName = errorName;
    this.errorCode = codes[errorName] ?? 0;
    this.errorType = errorType;
  }
}

const codes: Readonly<Record<string, number>> = {
  GENERIC_USER_ERROR: 0,
  SYNTAX_ERROR: 1,
  USER_CANCELED: 3,
  PERMISSION_DENIED: 4,
  FUNCTION_NOT_FOUND: 6,
  NOT_SUPPORTED: 13,
  UNKNOWN_TRANSACTION: 19,
  INCOMPATIBLE_CLIENT: 22,
  READ_ONLY_VIOLATION: 17,
  TRANSACTION_ALREADY_ABORTED: 24,
  CATALOG_NOT_FOUND: 44,
  TABLE_NOT_FOUND: 46,
  COLUMN_NOT_FOUND: 47,
  EXCEEDED_TIME_LIMIT: 131_075,
  EXCEEDED_SCAN_LIMIT: 131_082,
};

const rules: readonly (readonly [RegExp, string, (match: RegExpExecArray) => string])[] = [
  [/^INTERRUPT/i, 'USER_CANCELED', () => 'Query was canceled'],
  [/^Parser Error: (.*)/, 'SYNTAX_ERROR', ([, text = '']) => `line 1:1: mismatched input: ${text}`],
  [
    /Table with name (\S+) does not exist/,
    'TABLE_NOT_FOUND',
    ([, name = '']) => `line 1:15: Table 'memory.main.${name.replace(/!$/, '')}' does not exist`,
  ],
  [
    /Referenced column "([^"]+)"/,
    'COLUMN_NOT_FOUND',
    ([, name = '']) => `line 1:8: Column '${name}' cannot be resolved`,
  ],
  [
    /Function with name (\S+) does not exist/,
    'FUNCTION_NOT_FOUND',
    ([, name = '']) => `line 1:8: Function '${name}' not registered`,
  ],
  [/^Binder Error: (.*)/, 'EXPRESSION_NOT_SCALAR', ([, text = '']) => `line 1:8: ${text}`],
];

/** What Trino says where DuckDB says this. */
export function trinoErrorOf(error: unknown): TrinoError {
  if (error instanceof TrinoError) return error;
  const message = error instanceof Error ? error.message : String(error);
  for (const [pattern, name, say] of rules) {
    const match = pattern.exec(message);
    if (match !== null) return new TrinoError(name, say(match));
  }
  return new TrinoError('GENERIC_USER_ERROR', message.split('\n')[0] ?? message);
}
