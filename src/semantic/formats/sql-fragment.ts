import { UserError } from '../../lib/error.ts';
import type { Dialect } from '../../sql/dialect.ts';
import { type Fragment, parseFragment } from '../../sql/fragment.ts';
import type { AggregateCall } from '../../sql/aggregate-calls.ts';
import type { ColumnReference } from '../../sql/column-references.ts';
import type { ExpressionText } from '../model/schema-parts.ts';
import { isWithin } from '../../sql/analyzer.ts';

/** A span of a fragment's text and the text that replaces it. */
type Replacement = readonly [Pick<ColumnReference, 'start' | 'end'>, string];

/**
 * The text that this dialect uses; undefined if the expression has neither one for it nor a
 * default.
 */
export function textForDialect(text: ExpressionText, dialect: Dialect): string | undefined {
  return typeof text === 'string' ? text : (text[dialect.name] ?? text['default']);
}

/**
 * Undefined for SQL that ktx cannot use: a window function, a subquery, another dialect. Runs
 * inside `withAnalyzer`.
 */
export function tryParseFragment(text: string, dialect: Dialect): Fragment | undefined {
  try {
    return parseFragment(text, { dialect, origin: 'model' });
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
}

export function replaceSpans(text: string, replacements: readonly Replacement[]): string {
  let result = text;
  for (const [{ start, end }, by] of replacements.toSorted(([a], [b]) => b.start - a.start)) {
    result = result.slice(0, start) + by + result.slice(end);
  }
  return result;
}

/**
 * Row-level SQL of the dataset `home`, with its own names written as `home.name`; undefined if a
 * name is a path of roles.
 */
export function qualifyColumns(
  fragment: Fragment,
  home: string,
  datasets: { has(name: string): boolean },
): string | undefined {
  const isRolePath = ({ parts: [first = '', ...rest] }: ColumnReference) =>
    rest.length > 1 || (rest.length === 1 && !datasets.has(first));
  if (fragment.references.some(isRolePath)) return undefined;
  const bare = fragment.references.filter(({ parts }) => parts.length === 1);
  return replaceSpans(
    fragment.text,
    bare.map((reference) => [reference, `${home}.${reference.written}`]),
  );
}

/** The reverse of `qualifyColumns`: `home.name` becomes `name`. */
export function unqualifyColumns(fragment: Fragment, home: string): string {
  const own = fragment.references.filter(({ parts }) => parts.length === 2 && parts[0] === home);
  return replaceSpans(
    fragment.text,
    own.map((reference) => [reference, reference.written]),
  );
}

/** The aggregate call, if the whole text is one; else undefined. */
export function asSingleAggregate({ text, aggregates }: Fragment): AggregateCall | undefined {
  const [call] = aggregates;
  const whole = { start: 0, end: text.trimEnd().length };
  return call !== undefined && isWithin(whole, call) ? call : undefined;
}
