import { UserError } from '../../lib/error.ts';
import type { RowCondition } from '../resolve/conditions.ts';
import { choicesOf } from '../query/errors.ts';
import type { Expr } from '../relational/expr.ts';
import { predicateExpr, type JoinScope } from '../resolve/join-scope.ts';

/** A condition on the rows of a block; what is wrong with it names the metric that cannot be asked so. */
export function rowConditionExpr(
  scope: JoinScope,
  condition: RowCondition,
  { metric, owners }: { metric: string; owners: readonly string[] },
): Expr {
  const { text } = condition;
  const run = () => predicateExpr(scope, condition);
  const others = owners.filter((name) => name !== scope.owner.name);
  return withErrorContext(
    { what: `condition ${JSON.stringify(text)}`, metric, scoped: scopedForms(condition, others) },
    run,
  );
}

/** The condition as it would be about the other metrics of the query, of a dataset that it names alone. */
function scopedForms({ text, row }: RowCondition, owners: readonly string[]): readonly string[] {
  const named =
    row !== undefined
      ? [...text.matchAll(/\b([A-Za-z_]\w*)\s*\./g)].flatMap(([, name = '']) => name)
      : [];
  const others = [...new Set(named)].filter((name) => owners.includes(name));
  return others.map((on) => JSON.stringify({ on, where: text }));
}

interface ErrorContext {
  readonly what: string;
  readonly metric: string;
  /** What can be written in its place. */
  readonly scoped: readonly string[];
}

/** Says which metric cannot be asked so. */
export function withErrorContext<Result>(
  { what, metric, scoped }: ErrorContext,
  run: () => Result,
): Result {
  try {
    return run();
  } catch (error) {
    if (
      !(error instanceof UserError) ||
      !['no_path', 'no_default_time'].includes(error.code) ||
      metric === ''
    )
      throw error;
    const { code, message, hint = '' } = error;
    const about =
      scoped.length === 0
        ? ''
        : ` Or ask it of the metrics that it is about: ${scoped.join(' or ')}.`;
    const details = { choices: [...choicesOf(error), ...scoped] };
    throw new UserError(code, `The ${what} cannot be applied to ${metric}: ${message}`, {
      hint: `${hint}${about}`,
      exitCode: 2,
      details,
    });
  }
}
