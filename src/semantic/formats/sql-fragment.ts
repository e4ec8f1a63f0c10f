import { UserError } from '../../lib/error.ts';
import type { Dialect } from '../../sql/dialect.ts';
import {
  type AggregateCall,
  type Fragment,
  parseFragment,
  type ColumnReference,
} from '../../sql/fragment.ts';
import { isWithin } from '../../sql/analyzer.ts';

/** Spans of a fragment and what is written in place of each. */
type Replacement = readonly [Pick<ColumnReference, 'start' | 'end'>, string];

/** Undefined where ktx could not use the text: a window function, a subquery, another dialect. Runs inside `withAnalyzer`. */
export function fragmentIn(text: string, dialect: Dialect): Fragment | undefined {
  try {
    return parseFragment(text, { dialect, origin: 'model' });
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
}

export function rewritten(text: string, replacements: readonly Replacement[]): string {
  let result = text;
  for (const [{ start, end }, by] of replacements.toSorted(([a], [b]) => b.start - a.start)) {
    result = result.slice(0, start) + by + result.slice(end);
  }
  return result;
}

/** Row-level SQL of a dataset with its own names written as `dataset.name`; undefined where a name is a path of roles. */
export function qualified(
  fragment: Fragment,
  home: string,
  datasets: { has(name: string): boolean },
): string | undefined {
  const isPath = ({ parts: [first = '', ...rest] }: ColumnReference) =>
    rest.length > 1 || (rest.length === 1 && !datasets.has(first));
  if (fragment.references.some(isPath)) return undefined;
  const bare = fragment.references.filter(({ parts }) => parts.length === 1);
  return rewritten(
    fragment.text,
    bare.map((it) => [it, `${home}.${it.written}`]),
  );
}

/** The reverse, for the names of one dataset. */
export function unqualified(fragment: Fragment, home: string): string {
  const own = fragment.references.filter(({ parts }) => parts.length === 2 && parts[0] === home);
  return rewritten(
    fragment.text,
    own.map((it) => [it, it.written]),
  );
}

/** The aggregate that a text is as a whole. */
export function onlyAggregate({ text, aggregates }: Fragment): AggregateCall | undefined {
  const [only] = aggregates;
  return only !== undefined && isWithin({ start: 0, end: text.trimEnd().length }, only)
    ? only
    : undefined;
}
