import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
// oxlint-disable-next-line import/no-unassigned-import -- it works by being loaded first
import './wasm-memory.ts';
import { isRecord } from '../lib/json.ts';
import { UserError } from '../lib/error.ts';
import type { Dialect } from './dialect.ts';

/** Half-open range of UTF-16 offsets: `text.slice(start, end)`. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export function isWithin(inner: Span, outer: Span): boolean {
  return inner.start >= outer.start && inner.end <= outer.end;
}

/**
 * A node of the syntax tree. The parser's JSON `{select: {…}}` is `{kind: 'select', body: {…}}`
 * here.
 */
export interface SqlNode {
  readonly kind: string;
  readonly body: Readonly<Record<string, unknown>>;
}

type Sdk = typeof import('@polyglot-sql/sdk');
type SdkFailure = Extract<ReturnType<Sdk['parse']>, { success: false }>;

let sdkPromise: Promise<Sdk> | undefined;
let loadedSdk: Sdk | undefined;

/** Loads the analyzer: one SQL parser for all dialects. It takes 0.2 s, once per process. */
export async function loadAnalyzer(): Promise<void> {
  sdkPromise ??= loadSdk();
  loadedSdk = await sdkPromise;
}

/**
 * Reads the WebAssembly file itself: the package's own entry uses `fetch`, which takes 60 ms
 * longer.
 */
async function loadSdk(): Promise<Sdk> {
  const file = readFile(fileURLToPath(import.meta.resolve('@polyglot-sql/sdk/polyglot_sql.wasm')));
  const entry: unknown = await import('@polyglot-sql/sdk/manual');
  // The package's types import a path that does not resolve here, and declare only an address where
  // bytes work too.
  const sdk = entry as Sdk & { init(options: { wasmUrl: unknown }): Promise<void> };
  const bytes = await file;
  await sdk.init({ wasmUrl: bytes });
  // V8 has a copy of them: 23 MB less until the next collection of garbage.
  bytes.buffer.transfer(0);
  return sdk;
}

/** Thrown by `parseSql`; `withAnalyzer` catches it. */
class AnalyzerNotLoaded extends Error {
  override readonly message = 'code that parses SQL has to run inside withAnalyzer()';
}

/**
 * Runs code that may call `parseSql`. If the analyzer is not loaded, loads it and runs the code
 * again, so the code must be pure.
 */
export async function withAnalyzer<Result>(run: () => Result): Promise<Result> {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof AnalyzerNotLoaded)) throw error;
    await loadAnalyzer();
    return run();
  }
}

/**
 * Parses the statements of a text; an empty text has none. Must run inside `withAnalyzer`. Throws
 * `sql_syntax` with line and column, or `sql_too_deep` for SQL that is nested too deeply for the
 * parser.
 */
export function parseSql(sql: string, dialect: Dialect): readonly SqlNode[] {
  if (loadedSdk === undefined) throw new AnalyzerNotLoaded();
  const dialectNames = Object.values(loadedSdk.Dialect);
  const dialectName = dialectNames.find((name: string) => name === dialect.analyzer);
  refuseManyTags(sql);
  const result = loadedSdk.parse(sql, dialectName);
  if (!result.success) throw syntaxError(sql, result);
  return (result.ast as unknown[]).map((statement) => {
    const node = asNode(statement);
    if (node === undefined) throw new Error('the SQL parser returned a statement without a kind');
    return node;
  });
}

const mostTags = 1000;

/** The parser searches the rest of the text for the end of each `$tag$`. */
function refuseManyTags(sql: string): void {
  const tags = sql.includes('$') ? (sql.match(/\$\w{0,60}\$/g)?.length ?? 0) : 0;
  if (tags <= mostTags) return;
  throw new UserError(
    'sql_syntax',
    `This SQL has ${tags} marks like $tag$, more than ${mostTags}.`,
    {
      hint: 'Write texts in single quotes.',
      exitCode: 2,
    },
  );
}

/** Every node in a piece of the parser's JSON, parents first. */
export function* walkSql(value: unknown): Generator<SqlNode> {
  if (typeof value !== 'object' || value === null) return;
  const node = asNode(value);
  if (node !== undefined) yield node;
  for (const child of Object.values(node?.body ?? value)) yield* walkSql(child);
}

/**
 * Reads the parser's JSON `{kind: {…}}` as a node; undefined if the value is only a part of a node.
 */
export function asNode(value: unknown): SqlNode | undefined {
  if (!isRecord(value)) return undefined;
  const keys = Object.keys(value);
  const kind = keys[0];
  if (keys.length !== 1 || kind === undefined || partNames.has(kind)) return undefined;
  const body = value[kind];
  if (body === null) return { kind, body: {} };
  return isRecord(body) ? { kind, body } : undefined;
}

/** The name inside an identifier's JSON `{name, quoted, span}`. */
export function identifierName(value: unknown): string | undefined {
  const name = isRecord(value) ? value['name'] : undefined;
  return typeof name === 'string' ? name : undefined;
}

/** Keys of node parts that can be the only key of an object, which then looks like a node. */
const partNames = new Set(
  'this expression expressions args fields pairs entries items precision unit value sql index span name'.split(
    ' ',
  ),
);

function syntaxError(sql: string, failure: SdkFailure): UserError {
  const { errorStart } = failure;
  const location = errorStart === undefined ? undefined : lineAndColumn(sql, errorStart);
  const where =
    location === undefined ? '' : ` at line ${location.line}, column ${location.column}`;
  const reason = failure.error
    .replace(/^Parse error at line \d+, column \d+: /, '')
    .replace(/^E_GUARD_\w+: /, '');
  if (failure.error.includes('E_GUARD_')) {
    return new UserError(
      'sql_too_deep',
      `This SQL is nested or chained too deeply${where}: ${reason}`,
      {
        hint: 'Flatten it: fewer nested subqueries or parentheses, IN (…) in place of long chains of OR.',
      },
    );
  }
  return new UserError('sql_syntax', `This SQL cannot be parsed${where}: ${reason}`, {
    hint: 'Check the SQL near this position; it must be in the dialect of the connection.',
    details: location,
  });
}

/**
 * Line and column, from 1, of an offset in code points (as the parser counts); columns are in
 * UTF-16 units.
 */
export function lineAndColumn(
  text: string,
  codePoints: number,
): { readonly line: number; readonly column: number } {
  const before = Array.from(text).slice(0, codePoints).join('').split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}
