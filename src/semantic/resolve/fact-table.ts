import { isWithin } from '../../sql/analyzer.ts';
import type { ColumnReference } from '../../sql/column-references.ts';
import { isWord } from '../../sql/tokens.ts';
import { findVisibleField, type SemanticModel } from '../model/model.ts';
import { notSupportedError, queryError, unknownDatasetError } from '../query/errors.ts';
import { canReach } from './join-paths.ts';
import type { RowSql } from './row-expr.ts';
import { fieldAddressesNamed } from './unknown-metric.ts';

/**
 * The dataset in whose file an aggregate stands (undefined in a query), and the filters around it.
 */
interface AggregateContext {
  readonly home: string | undefined;
  readonly where: readonly RowSql[];
}

interface OwnedAggregate {
  /** The dataset whose rows are aggregated. */
  readonly owner: string;
  readonly of: RowSql | undefined;
  readonly where: readonly RowSql[];
}

/**
 * Finds the dataset whose rows an aggregate counts once: the one that its argument names, or `home`
 * for `count(*)`. If `CASE WHEN … THEN value END` names several, `value` decides, and its condition
 * becomes a filter of the aggregate. Throws `no_owner` if the argument names no dataset,
 * `mixed_owners` if it names several.
 */
export function factTableOf(
  model: SemanticModel,
  of: RowSql | undefined,
  { home, where }: AggregateContext,
): OwnedAggregate {
  const owners = of === undefined ? [] : ownersOf(model, of, home);
  const [only = home] = owners;
  if (only !== undefined && owners.length <= 1) return { owner: only, of, where };
  if (of === undefined || owners.length === 0) throw noOwnerError(of?.fragment.text ?? 'count(*)');
  const isHomeOwner = home !== undefined && owners.includes(home);
  if (isHomeOwner && owners.every((owner) => canReach(model, home, owner)))
    return { owner: home, of, where };
  const inCase = ownedByCaseValue(model, of, { home, where });
  if (inCase !== undefined) return inCase;
  throw queryError(
    'mixed_owners',
    `${of.fragment.text} uses ${owners.join(' and ')}, so it is not clear whose rows count once`,
    `Make it a metric in the file of the dataset whose rows count once: ${owners.join(' or ')}.`,
  );
}

function noOwnerError(text: string) {
  return queryError(
    'no_owner',
    `${text} does not say whose rows to aggregate`,
    'Name a field, like count(orders.id), or use a metric.',
  );
}

/** The aggregate of a CASE whose value names one dataset; undefined for any other SQL. */
function ownedByCaseValue(
  model: SemanticModel,
  of: RowSql,
  { home, where }: AggregateContext,
): OwnedAggregate | undefined {
  const branch = singleCaseBranch(of);
  if (branch === undefined) return undefined;
  const [owner, ...others] = ownersOf(model, branch.value, home);
  if (owner === undefined || others.length > 0) return undefined;
  return { owner, of: branch.value, where: [...where, branch.when] };
}

/**
 * The condition and value of a CASE that has one branch and no ELSE; undefined for any other SQL.
 */
function singleCaseBranch(
  row: RowSql,
): { readonly when: RowSql; readonly value: RowSql } | undefined {
  const tokens = row.fragment.tokens.filter((token) => isWithin(token, row.span));
  const countWord = (word: string): number => tokens.filter((token) => isWord(token, word)).length;
  const hasOneBranch = ['case', 'when', 'then', 'end'].every((word) => countWord(word) === 1);
  const isWholeCase =
    isWord(tokens[0], 'case') && isWord(tokens[1], 'when') && isWord(tokens.at(-1), 'end');
  if (!hasOneBranch || countWord('else') > 0 || !isWholeCase) return undefined;
  const then = tokens.findIndex((token) => isWord(token, 'then'));
  const rowBetween = (first: number, last: number): RowSql => ({
    ...row,
    span: { start: tokens[first]?.start ?? 0, end: tokens[last]?.end ?? 0 },
  });
  return { when: rowBetween(2, then - 1), value: rowBetween(then + 1, tokens.length - 2) };
}

/**
 * The datasets that the names of an argument start from. Paths of roles count only if there is no
 * other name.
 */
function ownersOf(model: SemanticModel, row: RowSql, home: string | undefined): readonly string[] {
  const names = row.fragment.references.filter((reference) => isWithin(reference, row.span));
  const direct = names.filter((name) => !isRolePath(model, name));
  const deciding = direct.length === 0 ? names : direct;
  return [...new Set(deciding.map((reference) => ownerOfName(model, reference, home)))];
}

function isRolePath(
  model: SemanticModel,
  { parts: [first = '', ...more] }: ColumnReference,
): boolean {
  return more.length > 1 || (more.length === 1 && !model.datasets.has(first));
}

/** The datasets whose rows are the entity, and that have the field. */
function datasetsOfEntity(
  { datasets }: SemanticModel,
  entity: string,
  field: string,
): readonly string[] {
  return [...datasets.values()].flatMap((dataset) =>
    dataset.entity === entity && findVisibleField(dataset, field) !== undefined
      ? [dataset.name]
      : [],
  );
}

function ownerOfName(
  model: SemanticModel,
  { parts }: ColumnReference,
  home: string | undefined,
): string {
  const [first = '', second = ''] = parts;
  if (parts.length === 1 && home !== undefined) return home;
  if (parts.length === 1) {
    throw queryError('unknown_name', `The name ${first} is unknown inside an aggregate`, {
      hint: 'Write a field as dataset.field.',
      choices: fieldAddressesNamed(model, first),
    });
  }
  if (parts.length === 2 && model.datasets.has(first)) return first;
  const entity = parts.length === 2 ? datasetsOfEntity(model, first, second) : [];
  if (entity[0] !== undefined && entity.length === 1) return entity[0];
  if (parts.length === 2 && home === undefined) {
    const addresses = fieldAddressesNamed(model, second);
    const fits = (dataset: string) => addresses.includes(`${dataset}.${second}`);
    throw unknownDatasetError(model, first, { rest: second, fits });
  }
  throw notSupportedError(
    'an aggregate over a path of roles',
    `${parts.join('.')} is one; aggregate dataset.field`,
  );
}
