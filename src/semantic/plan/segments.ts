import type { Fragment } from '../../sql/fragment.ts';
import { queryError, unknownDatasetError, unknownNameError } from '../query/errors.ts';
import { type Expr, wholePiece } from '../relational/expr.ts';
import type { SemanticModel } from '../model/model.ts';
import type { SemanticQuery } from '../query/query.ts';
import { predicateExpr, type JoinScope, sqlPredicate } from '../resolve/join-scope.ts';

/** A condition of the query on the rows of a block. */
export interface AppliedCondition {
  readonly text: string;
  readonly expr: Expr;
}

/** A segment restricts its own dataset's metrics only. */
export function segmentConditions(
  scope: JoinScope,
  { segments }: SemanticQuery,
): readonly AppliedCondition[] {
  const home = scope.owner.name;
  return segments.flatMap((asked) => {
    const fragment = asked.startsWith(`${home}.`)
      ? scope.owner.segments.get(asked.slice(home.length + 1))
      : undefined;
    return fragment === undefined
      ? []
      : [
          {
            text: fragment.text,
            expr: predicateExpr(scope, sqlPredicate({ ...wholePiece(fragment), home })),
          },
        ];
  });
}

/** With its dataset before each bare name, as a query writes it. */
function qualifyNames({ text, references }: Fragment, home: string): string {
  const bare = references
    .filter(({ parts }) => parts.length === 1)
    .toSorted((a, b) => b.start - a.start);
  return bare.reduce(
    (done, { start }) => `${done.slice(0, start)}${home}.${done.slice(start)}`,
    text,
  );
}

/** Which owner's rows a segment is of; refuses one that restricts nothing. */
export function checkSegments(
  model: SemanticModel,
  { segments }: SemanticQuery,
  owners: readonly string[],
): void {
  for (const asked of segments) {
    const [home = '', ...rest] = asked.split('.');
    const name = rest.join('.');
    const known = model.datasets.get(home)?.segments;
    if (known === undefined)
      throw unknownDatasetError(model, home, {
        rest: name,
        fits: (dataset) => model.datasets.get(dataset)?.segments.has(name) === true,
      });
    const fragment = known.get(name);
    const as = (candidate: string) => [`${home}.${candidate}`];
    if (fragment === undefined)
      throw unknownNameError({ what: `segment of ${home}`, name, candidates: known.keys(), as });
    if (owners.includes(home)) continue;
    const message = `The segment ${asked} restricts metrics of ${home} only, and the query has none`;
    throw queryError('unused_segment', message, {
      hint: 'As a condition in where it restricts all metrics.',
      choices: fragment.parameters === undefined ? [qualifyNames(fragment, home)] : [],
    });
  }
}
