import type { ModelRelationship } from '../model/model.ts';
import type { LintFinding } from './lint.ts';
import { identityOf } from './repeated-rows.ts';
import { type SelectScope } from './scopes.ts';
import { columnIdentity, type ModelDataset } from '../model/model.ts';

/**
 * Joins of two datasets that have relationships, by columns of none of them: a role that does not
 * exist, or a mistaken column.
 */
export function findUnknownJoins(scope: SelectScope): readonly LintFinding[] {
  const datasets = [...scope.sources].flatMap(([alias, source]) =>
    source.kind === 'dataset' ? [{ alias, dataset: source.dataset }] : [],
  );
  return datasets.flatMap((left, index) =>
    datasets.slice(index + 1).flatMap((right) => {
      const pairs = scope.equal.flatMap(([one, other]) => {
        const [own, target] = one.alias === left.alias ? [one, other] : [other, one];
        return own.alias === left.alias && target.alias === right.alias
          ? [[identityOf(scope, own), identityOf(scope, target)] as const]
          : [];
      });
      const known = relationshipsBetween(left.dataset, right.dataset);
      if (pairs.length === 0 || known.length === 0) return [];
      if (known.some(({ columns }) => columns.some((pair) => hasPair(pairs, pair)))) return [];
      const written = pairs
        .map(([own, target]) => `${left.dataset.name}.${own} = ${right.dataset.name}.${target}`)
        .join(' and ');
      const paths = known.map(({ text }) => text).join(', or ');
      return [
        {
          rule: 'unknown_join' as const,
          message: `${left.dataset.name} and ${right.dataset.name} are joined by ${written}, which no relationship of the model is`,
          hint: `The model joins them by ${paths}.`,
        },
      ];
    }),
  );
}

interface KnownJoin {
  /** Pairs of columns, of the left and of the right dataset. */
  readonly columns: readonly (readonly [string, string])[];
  readonly text: string;
}

/** Empty if one of the relationships is a condition: what it compares is not known. */
function relationshipsBetween(left: ModelDataset, right: ModelDataset): readonly KnownJoin[] {
  const own = left.relationships.filter(({ to }) => to === right.name);
  const back = right.relationships.filter(({ to }) => to === left.name);
  const all = [...own, ...back];
  if (
    all.some(
      ({ condition, via, equal }) =>
        condition !== undefined || via !== undefined || equal.length === 0,
    )
  )
    return [];
  return [
    ...own.map((relationship) => knownJoin(relationship, left, right)),
    ...back.map((relationship) => {
      const { columns, text } = knownJoin(relationship, right, left);
      return { columns: columns.map(([from, to]) => [to, from] as const), text };
    }),
  ];
}

function knownJoin(
  { equal, name }: ModelRelationship,
  from: ModelDataset,
  to: ModelDataset,
): KnownJoin {
  const columns = equal.flatMap(({ own, target }) =>
    own === undefined || target === undefined
      ? []
      : [
          [
            columnIdentity(from, own).toLowerCase(),
            columnIdentity(to, target).toLowerCase(),
          ] as const,
        ],
  );
  const written = columns.map(([own, target]) => `${from.name}.${own} = ${to.name}.${target}`);
  const role = name === to.name ? '' : ` (${name})`;
  return { columns, text: `${written.join(' and ')}${role}` };
}

function hasPair(
  pairs: readonly (readonly [string, string])[],
  [left, right]: readonly [string, string],
): boolean {
  return pairs.some(([own, target]) => own === left && target === right);
}
