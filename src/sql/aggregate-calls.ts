import { UserError } from '../lib/error.ts';
import { type Aggregate, isPercentile } from './aggregates.ts';
import type { Span } from './analyzer.ts';
import { findClosing, isSymbol, isWord, notAllowedError, type Token } from './tokens.ts';

/** A call of an aggregate function. */
export interface AggregateCall extends Span {
  readonly function: Aggregate;
  /** Undefined for `count(*)`. */
  readonly argument: Span | undefined;
  /** Of a percentile, 0 to 1. */
  readonly fraction: number | undefined;
}

const aggregateNames = [
  'sum',
  'count',
  'avg',
  'min',
  'max',
  'median',
  'percentile',
  'percentile_disc',
] as const;
type AggregateName = (typeof aggregateNames)[number];

export function isAggregateName(name: string): name is AggregateName {
  return aggregateNames.some((candidate) => candidate === name);
}

/**
 * The aggregate calls of a fragment. Throws `sql_fragment` or `not_supported` for one that is
 * malformed or nested.
 */
export function findAggregateCalls(
  text: string,
  tokens: readonly Token[],
): readonly AggregateCall[] {
  const calls: AggregateCall[] = [];
  for (let index = 0; index < tokens.length; index += 1) {
    const token = tokens[index];
    if (token?.kind !== 'word' || !isAggregateName(token.text)) continue;
    if (!isSymbol(tokens[index + 1], '(') || isSymbol(tokens[index - 1], '.')) continue;
    const close = findClosing(tokens, index + 1);
    calls.push(parseAggregateCall(text, token.text, tokens.slice(index, close + 1)));
    index = close;
  }
  return calls;
}

const noSpan: Span = { start: 0, end: 0 };

/** `tokens` are those of the call: name, parenthesis, arguments, parenthesis. */
function parseAggregateCall(
  text: string,
  name: AggregateName,
  tokens: readonly Token[],
): AggregateCall {
  const [first = noSpan] = tokens;
  const call = { start: first.start, end: (tokens.at(-1) ?? first).end };
  const isDistinct = isWord(tokens[2], 'distinct');
  const inner = tokens.slice(isDistinct ? 3 : 2, -1);
  checkNotNested(text, inner);
  const isCountStar = inner.length === 1 && isSymbol(inner[0], '*') && !isDistinct;
  if (name === 'count' && isCountStar)
    return { ...call, function: 'count', argument: undefined, fraction: undefined };
  const fraction = isPercentile(name) ? parseFraction(text, name, inner) : undefined;
  const argument = argumentSpan(inner.slice(0, fraction === undefined ? undefined : -2));
  if (argument === undefined)
    throw notAllowedError('sql_fragment', text, `a ${name} that has not exactly one argument`);
  if (isDistinct && name !== 'count')
    throw distinctError(text, name, text.slice(argument.start, argument.end));
  return {
    ...call,
    function: isDistinct ? 'count_distinct' : name,
    argument,
    fraction,
  };
}

/** A nested aggregate takes each value once. */
function distinctError(text: string, name: AggregateName, argument: string): UserError {
  const { code, message, details } = notAllowedError('not_supported', text, `${name}(DISTINCT …)`);
  const isName = /^[\w.]+$/.test(argument);
  const once =
    name === 'min' || name === 'max'
      ? `${name}(${argument})`
      : `${name}(max(${argument})) per ${argument}`;
  const hint = isName
    ? `Write ${once}, which takes each value once.`
    : `Make ${argument} a field, and write ${name}(max(that field)) per that field.`;
  return new UserError(code, message, { hint, exitCode: 2, details });
}

/** The span of the only argument; undefined if there is none, or more than one. */
function argumentSpan(tokens: readonly Token[]): Span | undefined {
  const first = tokens[0];
  const last = tokens.at(-1);
  if (first === undefined || last === undefined || hasTopLevelComma(tokens)) return undefined;
  return { start: first.start, end: last.end };
}

function checkNotNested(text: string, tokens: readonly Token[]): void {
  const isNested = tokens.some(
    (token, index) =>
      token.kind === 'word' && isAggregateName(token.text) && isSymbol(tokens[index + 1], '('),
  );
  if (!isNested) return;
  const what = 'an aggregate inside an aggregate (nested aggregation)';
  throw notAllowedError('not_supported', text, what);
}

/** The second argument of a percentile. */
function parseFraction(text: string, name: AggregateName, args: readonly Token[]): number {
  const fraction = Number(args.at(-1)?.text);
  if (isSymbol(args.at(-2), ',') && fraction >= 0 && fraction <= 1) return fraction;
  const what = `a ${name} without a fraction (write ${name}(amount, 0.9))`;
  throw notAllowedError('sql_fragment', text, what);
}

function hasTopLevelComma(tokens: readonly Token[]): boolean {
  for (let index = 0; index < tokens.length; index += 1) {
    if (isSymbol(tokens[index], '(')) index = findClosing(tokens, index);
    else if (isSymbol(tokens[index], ',')) return true;
  }
  return false;
}
