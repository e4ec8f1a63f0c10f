import { type AggregateCall, findAggregateCalls } from './aggregate-calls.ts';
import { isWithin, type Span } from './analyzer.ts';
import { splitConjuncts } from './boolean-operands.ts';
import { type ColumnReference, findDottedNames, findReferences } from './column-references.ts';
import {
  checkDialectTexts,
  checkTokens,
  type FragmentOptions,
  metricFunction,
} from './fragment-rules.ts';
import { isSymbol, isWord, notAllowedError, type Token, tokenize } from './tokens.ts';

/** A parsed SQL fragment. Spans are UTF-16 offsets into `text`. */
export interface Fragment {
  readonly text: string;
  readonly tokens: readonly Token[];
  readonly references: readonly ColumnReference[];
  /** The aggregate calls; none stands inside another. */
  readonly aggregates: readonly AggregateCall[];
  /**
   * The operands of AND at the top level; the whole text if there is no AND, or an OR beside it.
   */
  readonly conjuncts: readonly Span[];
  /** The `/` of each division that could be one of whole numbers. */
  readonly divisions: readonly Span[];
  /** The calls of `metric_by`; undefined if there are none. Their names are no references. */
  readonly metricCalls?: readonly MetricCall[];
  /** Undefined if there are none. */
  readonly parameters?: readonly ParameterReference[];
}

/** A name in model text that stands for a value: `param.currency`. */
export interface ParameterReference extends Span {
  readonly name: string;
  /** Its value in one query. */
  readonly bound?: BoundParameter;
}

/** `metric_by(orders.revenue, customers.id)`: the metric of all rows with the same values. */
interface MetricCall extends Span {
  readonly metric: readonly string[];
  readonly by: readonly ColumnReference[];
}

interface BoundParameter {
  /** `dataset.name`. */
  readonly address: string;
  /** Undefined if the query gives none and there is no default. */
  readonly value: string | number | boolean | undefined;
  readonly choices: readonly string[];
}

const fragmentCache = new Map<string, Fragment>();

/**
 * Parses one SQL expression. Throws `sql_fragment`, `function`, `subquery`, `window`,
 * `not_supported` or `sql_syntax`. Must run inside `withAnalyzer`.
 */
export function parseFragment(text: string, options: FragmentOptions): Fragment {
  const { origin, dialect, names = [] } = options;
  const key = JSON.stringify([origin, dialect.analyzer, text, ...names]);
  const cached = fragmentCache.get(key);
  if (cached !== undefined) return cached;
  if (fragmentCache.size > 20_000) fragmentCache.clear();
  const fragment = analyzeFragment(text, options);
  fragmentCache.set(key, fragment);
  return fragment;
}

function analyzeFragment(written: string, options: FragmentOptions): Fragment {
  const text = options.origin === 'query' ? replaceSoftWords(written, options) : written;
  const tokens = tokenize(text);
  checkTokens(text, tokens, options.origin);
  checkDialectTexts(text, tokens, options.dialect);
  const aggregates = findAggregateCalls(text, tokens);
  const names = findDottedNames(text, tokens);
  const references = findReferences({ text, tokens, names }, options);
  const metricCalls = findMetricCalls(text, tokens, references);
  return {
    text,
    tokens,
    references: references.filter(
      (reference) => !metricCalls.some((call) => isWithin(reference, call)),
    ),
    ...(metricCalls.length === 0 ? {} : { metricCalls }),
    aggregates,
    conjuncts: splitConjuncts(tokens, { start: 0, end: text.length }),
    divisions: tokens.filter(isDivision),
  };
}

/**
 * Replaces words like CURRENT_DATE, which some dialects read as a column if there is one of that
 * name. A query must not depend on that, so it gets SQL that means the same in any case.
 */
function replaceSoftWords(
  text: string,
  { dialect: { softWords }, names }: FragmentOptions,
): string {
  if (softWords === undefined) return text;
  const tokens = tokenize(text);
  return tokens.reduceRight((result, token, index) => {
    const isQueryName = names?.has(text.slice(token.start, token.end)) === true;
    const replacement = token.kind === 'word' && !isQueryName ? softWords[token.text] : undefined;
    const isPartOfName =
      isSymbol(tokens[index - 1], '.') ||
      isSymbol(tokens[index + 1], '.') ||
      isSymbol(tokens[index + 1], '(');
    return replacement === undefined || isPartOfName || isTruthTest(tokens, index)
      ? result
      : result.slice(0, token.start) + replacement + result.slice(token.end);
  }, text);
}

/** True for the TRUE or FALSE of `x IS [NOT] TRUE`. */
function isTruthTest(tokens: readonly Token[], index: number): boolean {
  if (!isWord(tokens[index], 'true', 'false')) return false;
  const isNegated = isWord(tokens[index - 1], 'not');
  return isWord(tokens[index - (isNegated ? 2 : 1)], 'is');
}

/**
 * True for a `/` that may divide whole numbers: not part of `//` or `|/`, and not beside a decimal
 * literal.
 */
function isDivision(token: Token, index: number, tokens: readonly Token[]): boolean {
  const before = tokens[index - 1];
  const after = tokens[index + 1];
  if (!isSymbol(token, '/') || before === undefined || isSymbol(after, '/')) return false;
  const hasDecimal = [before, after].some(
    (operand) => operand?.kind === 'number' && /[.e]/i.test(operand.text),
  );
  return !hasDecimal && (before.kind !== 'symbol' || ')]'.includes(before.text));
}

/** The calls of `metric_by`. Throws for one that has anything but names as arguments. */
function findMetricCalls(
  text: string,
  tokens: readonly Token[],
  references: readonly ColumnReference[],
): readonly MetricCall[] {
  return tokens.flatMap((token, index) => {
    if (!isWord(token, metricFunction) || !isSymbol(tokens[index + 1], '(')) return [];
    const close = tokens.findIndex(
      (candidate, position) => position > index && isSymbol(candidate, ')'),
    );
    const end = tokens[close];
    if (end === undefined) throw invalidCall(text);
    const names = references.filter(
      (reference) => reference.start > token.start && reference.end < end.end,
    );
    const [metric, ...by] = names;
    const between = text.slice(tokens[index + 1]?.end, end.start).split(',');
    const areNames =
      between.length === names.length &&
      between.every((argument, position) => {
        const { start = 0, end: last = 0 } = names[position] ?? {};
        return argument.trim() === text.slice(start, last);
      });
    if (metric === undefined || by.length === 0 || !areNames) throw invalidCall(text);
    return [{ start: token.start, end: end.end, metric: metric.parts, by }];
  });
}

function invalidCall(text: string) {
  return notAllowedError(
    'sql_fragment',
    text,
    'metric_by with other arguments than a metric and fields, like metric_by(orders.revenue, customers.id)',
  );
}
