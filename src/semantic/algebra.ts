import { UserError } from '../lib/error.ts';
import type { Span } from '../sql/analyzer.ts';
import type { AggregateCall, Fragment, Reference } from '../sql/expression.ts';
import { closingIndex, isSymbol, isWord, type Token } from '../sql/tokens.ts';
import type { Expr } from './expr.ts';

export interface Atoms {
  aggregate(call: AggregateCall): Expr;
  reference(reference: Reference): Expr;
}

const grammarWords = ['in', 'and', 'or', 'not', 'is', 'like', 'ilike', 'between', 'case', 'when', 'then', 'else'];

interface Reader {
  readonly fragment: Fragment;
  readonly tokens: readonly Token[];
  readonly atoms: Atoms;
}

/** What was read, and the index of the token after it. */
type Parsed = readonly [expr: string | Expr, next: number];

/**
 * Arithmetic around aggregates and metrics, within `span`: every division becomes the real, zero-safe one,
 * everything else stays as it was written.
 */
export function algebraOf(fragment: Fragment, span: Span, atoms: Atoms): Expr {
  const tokens = fragment.tokens.filter((token) => token.start >= span.start && token.end <= span.end);
  refuseOperators(fragment.text, tokens);
  return sequence({ fragment, tokens, atoms }, 0, tokens.length);
}

function sequence(reader: Reader, from: number, to: number): Expr {
  const parts: (string | Expr)[] = [];
  for (let index = from; index < to;) {
    const [term, next] = product(reader, index);
    const gap = index === from ? '' : reader.fragment.text.slice(reader.tokens[index - 1]?.end, reader.tokens[index]?.start);
    parts.push(...(gap === '' ? [term] : [gap, term]));
    index = next;
  }
  const only = parts.length === 1 ? parts[0] : undefined;
  return only !== undefined && typeof only !== 'string' ? only : { kind: 'text', parts };
}

function product(reader: Reader, from: number): Parsed {
  let [result, index] = primary(reader, from);
  for (
    let token = reader.tokens[index];
    isSymbol(token, '*') || isSymbol(token, '/') || isSymbol(token, '%');
    token = reader.tokens[index]
  ) {
    const [right, next] = primary(reader, index + 1);
    result = isSymbol(token, '/')
      ? { kind: 'divide', numerator: asExpr(result), denominator: asExpr(right) }
      : { kind: 'text', parts: [result, ` ${token?.text} `, right] };
    index = next;
  }
  return [result, index];
}

/** An operand with its casts, which bind closer than any arithmetic. */
function primary(reader: Reader, index: number): Parsed {
  const { tokens } = reader;
  const [expr, next] = operand(reader, index);
  if (!isSymbol(tokens[next], '::')) return [expr, next];
  let end = next + 2;
  while (isWord(tokens[end], 'precision', 'varying')) end += 1;
  if (isSymbol(tokens[end], '(')) end = closingIndex(tokens, end) + 1;
  return [{ kind: 'text', parts: [expr, source(reader, next, end)] }, end];
}

function operand(reader: Reader, index: number): Parsed {
  const { fragment, tokens, atoms } = reader;
  const token = tokens[index];
  if (token === undefined) return ['', index + 1];
  const call = fragment.aggregates.find((candidate) => candidate.start === token.start);
  if (call !== undefined) return [atoms.aggregate(call), indexAfter(tokens, call)];
  const reference = fragment.references.find((candidate) => candidate.start === token.start);
  if (reference !== undefined) return [atoms.reference(reference), indexAfter(tokens, reference)];
  const close = closingIndex(tokens, isSymbol(token, '(') ? index : index + 1);
  if (isSymbol(token, '(')) return [sequence(reader, index + 1, close), close + 1];
  if (isSymbol(token, '-') && isSign(tokens[index - 1])) {
    const [inner, next] = primary(reader, index + 1);
    return [{ kind: 'text', parts: ['-', inner] }, next];
  }
  if (isWord(token, 'case')) {
    const end = endOfCase(tokens, index);
    return [{ kind: 'text', parts: ['CASE ', ...pieces(reader, index + 1, end), ' END'] }, end + 1];
  }
  if (token.kind === 'word' && !isWord(token, ...grammarWords) && isSymbol(tokens[index + 1], '(')) {
    return [{ kind: 'text', parts: [token.text, '(', ...pieces(reader, index + 2, close), ')'] }, close + 1];
  }
  return [source(reader, index, index + 1), index + 1];
}

/** As `sequence`, without parentheses of its own. */
function pieces(reader: Reader, from: number, to: number): readonly (string | Expr)[] {
  const expr = sequence(reader, from, to);
  return expr.kind === 'text' ? expr.parts : [expr];
}

function isSign(before: Token | undefined): boolean {
  return before === undefined || (before.kind === 'symbol' && before.text !== ')') || isWord(before, ...grammarWords);
}

function endOfCase(tokens: readonly Token[], index: number): number {
  let depth = 0;
  for (let at = index; at < tokens.length; at += 1) {
    if (isWord(tokens[at], 'case')) depth += 1;
    if (isWord(tokens[at], 'end')) depth -= 1;
    if (depth === 0) return at;
  }
  return tokens.length;
}

function indexAfter(tokens: readonly Token[], atom: Span): number {
  const next = tokens.findIndex((token) => token.start >= atom.end);
  return next === -1 ? tokens.length : next;
}

function source({ fragment, tokens }: Reader, from: number, to: number): string {
  return fragment.text.slice(tokens[from]?.start, tokens[to - 1]?.end);
}

function asExpr(part: string | Expr): Expr {
  return typeof part === 'string' ? { kind: 'text', parts: [part] } : part;
}

/** Operators whose precedence differs between dialects, or that divide in another way. */
function refuseOperators(text: string, tokens: readonly Token[]): void {
  for (const [index, token] of tokens.entries()) {
    const next = tokens[index + 1];
    const isDoubled = (isSymbol(token, '/') || isSymbol(token, '*')) && isSymbol(next, token.text) && next?.start === token.end;
    if (token.kind !== 'symbol' || (!isDoubled && '().,=<>!+-*/%::'.includes(token.text))) continue;
    const operator = isDoubled ? `${token.text}${token.text}` : token.text;
    throw new UserError('sql_fragment', `Arithmetic over metrics cannot use the operator ${operator}: ${JSON.stringify(text)}`, {
      hint: 'Use + - * / % and functions such as power(x, y) or concat(a, b).',
      exitCode: 2,
    });
  }
}
