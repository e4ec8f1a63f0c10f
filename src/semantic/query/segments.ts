import type { Fragment } from '../../sql/expression.ts';
import { refused, unknownDataset, unknownName } from './errors.ts';
import { type Expr, wholeOf } from '../sql/expr.ts';
import type { SemanticModel } from '../model/model.ts';
import type { SemanticQuery } from './query.ts';
import { conditionExpr, type Scope, testOf } from '../resolve/scope.ts';

/** A condition of the query on the rows of a block. */
export interface Test {
  readonly text: string;
  readonly expr: Expr;
}

/** A segment restricts its own dataset's metrics only. */
export function segmentsOf(scope: Scope, { segments }: SemanticQuery): readonly Test[] {
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
            expr: conditionExpr(scope, testOf({ ...wholeOf(fragment), home })),
          },
        ];
  });
}

/** With its dataset before each bare name, as a query writes it. */
function inFull({ text, references }: Fragment, home: string): string {
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
      throw unknownDataset(model, home, {
        rest: name,
        fits: (dataset) => model.datasets.get(dataset)?.segments.has(name) === true,
      });
    const fragment = known.get(name);
    const as = (candidate: string) => [`${home}.${candidate}`];
    if (fragment === undefined)
      throw unknownName({ what: `segment of ${home}`, name, candidates: known.keys(), as });
    if (owners.includes(home)) continue;
    const message = `The segment ${asked} restricts metrics of ${home} only, and the query has none`;
    throw refused('unused_segment', message, {
      hint: 'As a condition in where it restricts all metrics.',
      choices: fragment.parameters === undefined ? [inFull(fragment, home)] : [],
    });
  }
}
