import { UserError } from '../../lib/error.ts';
import type { Fragment } from '../../sql/fragment.ts';
import type { SemanticModel } from '../model/model.ts';
import { choicesOf, queryError, unknownDatasetError, unknownNameError } from '../query/errors.ts';
import type { SemanticQuery } from '../query/query.ts';
import type { Expr } from '../relational/query-tree.ts';
import { wholePiece } from '../relational/sql-piece.ts';
import type { RowCondition } from '../resolve/conditions.ts';
import type { JoinScope } from '../resolve/join-scope.ts';
import { predicateExpr, sqlPredicate } from '../resolve/row-expr.ts';

/** A condition of the query on the rows of one fact query. */
export interface AppliedCondition {
  /** As the query or the segment states it. */
  readonly text: string;
  readonly expr: Expr;
}

/**
 * A condition on the rows of one fact query as an expression. An error names the metric that the
 * condition cannot apply to. If the condition is about other facts of the query (`owners`), the
 * error suggests to limit it to those.
 */
export function rowConditionExpr(
  scope: JoinScope,
  condition: RowCondition,
  { metric, owners }: { metric: string; owners: readonly string[] },
): Expr {
  const what = `condition ${JSON.stringify(condition.text)}`;
  const otherOwners = owners.filter((name) => name !== scope.owner.name);
  const scoped = scopedForms(condition, otherOwners);
  return withErrorContext({ what, metric, scoped }, () => predicateExpr(scope, condition));
}

/** The condition with `on:` added, once for each owner that it names. */
function scopedForms({ text, row }: RowCondition, owners: readonly string[]): readonly string[] {
  if (row === undefined) return [];
  const names = [...text.matchAll(/\b([A-Za-z_]\w*)\s*\./g)].flatMap(([, name = '']) => name);
  const named = [...new Set(names)].filter((name) => owners.includes(name));
  return named.map((on) => JSON.stringify({ on, where: text }));
}

interface ErrorContext {
  /** What cannot be applied, for example `dimension orders.status`. */
  readonly what: string;
  /** The metric of the fact query; empty adds no context. */
  readonly metric: string;
  /** What to write instead of `what`. */
  readonly scoped: readonly string[];
}

/** Runs `run`. An error about a missing path or default time then names the metric too. */
export function withErrorContext<Result>(
  { what, metric, scoped }: ErrorContext,
  run: () => Result,
): Result {
  try {
    return run();
  } catch (error) {
    const isAboutMetric =
      error instanceof UserError && ['no_path', 'no_default_time'].includes(error.code);
    if (!isAboutMetric || metric === '') throw error;
    const { code, message, hint = '' } = error;
    const advice =
      scoped.length === 0 ? '' : ` Or limit it to the metrics it is about: ${scoped.join(' or ')}.`;
    throw new UserError(code, `The ${what} cannot be applied to ${metric}: ${message}`, {
      hint: `${hint}${advice}`,
      exitCode: 2,
      details: { choices: [...choicesOf(error), ...scoped] },
    });
  }
}

/**
 * The conditions of the query's segments that belong to the dataset of the scope; a segment
 * restricts no other dataset.
 */
export function segmentConditions(
  scope: JoinScope,
  { segments }: SemanticQuery,
): readonly AppliedCondition[] {
  const home = scope.owner.name;
  return segments.flatMap((address) => {
    if (!address.startsWith(`${home}.`)) return [];
    const fragment = scope.owner.segments.get(address.slice(home.length + 1));
    if (fragment === undefined) return [];
    const predicate = sqlPredicate({ ...wholePiece(fragment), home });
    return [{ text: fragment.text, expr: predicateExpr(scope, predicate) }];
  });
}

/** Throws if a segment of the query is unknown, or restricts none of the facts (`owners`). */
export function checkSegments(
  model: SemanticModel,
  { segments }: SemanticQuery,
  owners: readonly string[],
): void {
  for (const address of segments) {
    const [home = '', ...rest] = address.split('.');
    const fragment = requireSegment(model, home, rest.join('.'));
    if (owners.includes(home)) continue;
    throw queryError(
      'unused_segment',
      `The segment ${address} restricts metrics of ${home} only, and the query has none`,
      {
        hint: 'As a condition in where it restricts all metrics.',
        choices: fragment.parameters === undefined ? [qualifyNames(fragment, home)] : [],
      },
    );
  }
}

function requireSegment(model: SemanticModel, home: string, name: string): Fragment {
  const segments = model.datasets.get(home)?.segments;
  if (segments === undefined) {
    const fits = (dataset: string) => model.datasets.get(dataset)?.segments.has(name) === true;
    throw unknownDatasetError(model, home, { rest: name, fits });
  }
  const fragment = segments.get(name);
  if (fragment !== undefined) return fragment;
  const as = (candidate: string) => [`${home}.${candidate}`];
  throw unknownNameError({
    what: `segment of ${home}`,
    name,
    candidates: [...segments.keys()],
    as,
  });
}

/** The text with its dataset before each bare name, as a query has to write it. */
function qualifyNames({ text, references }: Fragment, home: string): string {
  const bareNames = references
    .filter(({ parts }) => parts.length === 1)
    .toSorted((a, b) => b.start - a.start);
  return bareNames.reduce(
    (result, { start }) => `${result.slice(0, start)}${home}.${result.slice(start)}`,
    text,
  );
}
