import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { UserError } from '../lib/error.ts';
import type { Dialect } from './dialect.ts';

/** Half-open range of UTF-16 offsets: `text.slice(start, end)`. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** One node of the syntax tree: `{select: {…}}` in the parser's JSON is `{kind: 'select', body: {…}}` here. */
export interface SqlNode {
  readonly kind: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface AnalyzedAst {
  readonly text: string;
  /** In the order of the text; an empty text has none. */
  readonly statements: readonly SqlNode[];
}

export interface SqlAnalyzer {
  /** Throws `sql_syntax` with line, column and offset; `sql_too_deep` past the parser's nesting limit. Results are cached and shared. */
  parse(sql: string, dialect: Dialect): AnalyzedAst;
}

type Sdk = typeof import('@polyglot-sql/sdk');
type SdkFailure = Extract<ReturnType<Sdk['parse']>, { success: false }>;

const cacheSize = 500;
let loading: Promise<SqlAnalyzer> | undefined;
let loaded: SqlAnalyzer | undefined;

/** Loads the parser (0.2 s) once a process. */
export function loadAnalyzer(): Promise<SqlAnalyzer> {
  loading ??= loadSdk().then((sdk) => (loaded = analyzerOver(sdk)));
  return loading;
}

/** The package's own entry gets its WebAssembly through `fetch`, which costs 60 ms more than handing over the file's bytes. */
async function loadSdk(): Promise<Sdk> {
  const file = readFile(fileURLToPath(import.meta.resolve('@polyglot-sql/sdk/polyglot_sql.wasm')));
  const entry: unknown = await import('@polyglot-sql/sdk/manual');
  // Its declarations import a path that does not resolve here, and name an address only where the code takes bytes too.
  const sdk = entry as Sdk & { init(options: { wasmUrl: unknown }): Promise<void> };
  await sdk.init({ wasmUrl: await file });
  return sdk;
}

class NotLoaded extends Error {
  override readonly message = 'code that may parse SQL has to run inside withAnalyzer()';
}

/** For pure code that runs inside `withAnalyzer`, or after `loadAnalyzer`. */
export function requireAnalyzer(): SqlAnalyzer {
  if (loaded === undefined) throw new NotLoaded();
  return loaded;
}

/** The result of pure code. What it parses may need the parser, which is loaded only then, and the code run again. */
export async function withAnalyzer<Result>(run: () => Result): Promise<Result> {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof NotLoaded)) throw error;
    await loadAnalyzer();
    return run();
  }
}

/** Every node below `value`, itself included, parents first. */
export function* walkSql(value: unknown): Generator<SqlNode> {
  if (Array.isArray(value)) {
    for (const item of value) yield* walkSql(item);
    return;
  }
  if (!isRecord(value)) return;
  const node = isNode(value) ? value : asNode(value);
  if (node !== undefined) yield node;
  for (const child of Object.values(node?.body ?? value)) yield* walkSql(child);
}

/** The parser's JSON `{kind: {…}}` as a node; undefined where the value is a part of a node rather than one. */
export function asNode(value: unknown): SqlNode | undefined {
  if (!isRecord(value)) return undefined;
  const keys = Object.keys(value);
  const kind = keys[0];
  if (keys.length !== 1 || kind === undefined || partNames.has(kind)) return undefined;
  const body = value[kind];
  if (body === null) return { kind, body: {} };
  return isRecord(body) ? { kind, body } : undefined;
}

/** Where the parser knows it: columns, identifiers, aliases. */
export function spanOf(body: unknown): Span | undefined {
  const span = isRecord(body) ? body['span'] : undefined;
  if (!isRecord(span)) return undefined;
  const { start, end } = span;
  return typeof start === 'number' && typeof end === 'number' ? { start, end } : undefined;
}

/** The name inside an identifier's JSON `{name, quoted, span}`. */
export function identifierName(value: unknown): string | undefined {
  const name = isRecord(value) ? value['name'] : undefined;
  return typeof name === 'string' ? name : undefined;
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Names of parts that can stand alone in an object and so look like a node. */
const partNames = new Set(
  'this expression expressions args fields pairs entries items precision unit value sql index span name'.split(' '),
);

function isNode(value: Readonly<Record<string, unknown>>): value is Readonly<Record<string, unknown>> & SqlNode {
  return Object.keys(value).length === 2 && typeof value['kind'] === 'string' && isRecord(value['body']);
}

function analyzerOver(sdk: Sdk): SqlAnalyzer {
  const cache = new Map<string, AnalyzedAst>();
  return {
    parse(sql, dialect) {
      const key = `${dialect.analyzer}\n${sql}`;
      const ast = cache.get(key) ?? parseText(sdk, sql, dialect.analyzer);
      cache.delete(key);
      cache.set(key, ast);
      const oldest = cache.size > cacheSize ? cache.keys().next().value : undefined;
      if (oldest !== undefined) cache.delete(oldest);
      return ast;
    },
  };
}

function parseText(sdk: Sdk, sql: string, dialect: string): AnalyzedAst {
  const known = new Map<string, Parameters<Sdk['parse']>[1]>(Object.values(sdk.Dialect).map((name) => [name, name])).get(dialect);
  const result = sdk.parse(sql, known);
  if (!result.success) throw syntaxError(sql, result);
  if (/[\ud800-\udfff]/.test(sql)) moveSpans(result.ast, utf16Offsets(sql));
  const statements = (result.ast as unknown[]).map((statement) => {
    const node = asNode(statement);
    if (node === undefined) throw new Error('the SQL analyzer answered with a statement without a kind');
    return node;
  });
  return { text: sql, statements };
}

function syntaxError(sql: string, failure: SdkFailure): UserError {
  const tooDeep = failure.error.includes('E_GUARD_');
  const offset = failure.errorStart === undefined ? undefined : utf16Offsets(sql)[failure.errorStart];
  const location = failure.errorStart === undefined ? undefined : lineAndColumn(sql, failure.errorStart);
  const where = location === undefined ? '' : ` at line ${location.line}, column ${location.column}`;
  const reason = failure.error.replace(/^Parse error at line \d+, column \d+: /, '').replace(/^E_GUARD_\w+: /, '');
  if (tooDeep) {
    return new UserError('sql_too_deep', `This SQL is nested or chained too deeply${where}: ${reason}`, {
      hint: 'Flatten it: fewer nested subqueries or parentheses, IN (…) in place of long chains of OR.',
    });
  }
  return new UserError('sql_syntax', `This SQL cannot be parsed${where}: ${reason}`, {
    hint: 'Check the SQL near that place; it must be in the dialect of the connection.',
    details: location === undefined ? undefined : { ...location, offset },
  });
}

/** Of a place that is counted in code points, as parsers do; columns are UTF-16. */
export function lineAndColumn(text: string, codePoints: number): { readonly line: number; readonly column: number } {
  const before = Array.from(text).slice(0, codePoints).join('').split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

/** The parser counts code points: entry n is the UTF-16 offset of code point n; one more entry for the end. */
function utf16Offsets(text: string): readonly number[] {
  const offsets: number[] = [];
  let offset = 0;
  for (const character of text) {
    offsets.push(offset);
    offset += character.length;
  }
  return [...offsets, offset];
}

function moveSpans(value: unknown, offsets: readonly number[]): void {
  if (Array.isArray(value)) {
    for (const item of value) moveSpans(item, offsets);
    return;
  }
  if (!isRecord(value)) return;
  for (const [name, child] of Object.entries(value)) {
    const span = name === 'span' ? (child as { start: number; end: number } | null) : null;
    if (span === null) {
      moveSpans(child, offsets);
      continue;
    }
    span.start = offsets[span.start] ?? span.start;
    span.end = offsets[span.end] ?? span.end;
  }
}
