import type { ColumnReference } from '../../sql/fragment.ts';
import { isWord } from '../../sql/tokens.ts';
import { notSupportedError, queryError, unknownDatasetError } from '../query/errors.ts';
import { isWithin } from '../../sql/analyzer.ts';
import type { SemanticModel } from '../model/model.ts';
import { canReach } from './join-paths.ts';
import type { RowSql } from './row-expr.ts';
import { fieldAddressesNamed } from './unknown-metric.ts';

interface OwnedAggregate {
  readonly owner: string;
  readonly of: RowSql | undefined;
  readonly where: readonly RowSql[];
}

/** The dataset whose rows are aggregated: where the argument lives. A condition inside it, `CASE WHEN … THEN value END`, may live elsewhere. */
export function factTableOf(
  model: SemanticModel,
  of: RowSql | undefined,
  around: { readonly home: string | undefined; readonly where: readonly RowSql[] },
): OwnedAggregate {
  const { home, where } = around;
  const owners = of === undefined ? [] : anchorsOf(model, of, home);
  const [only = home] = owners;
  if (only !== undefined && owners.length <= 1) return { owner: only, of, where };
  const text = of === undefined ? 'count(*)' : of.fragment.text;
  if (of === undefined || owners.length === 0) {
    throw queryError(
      'no_owner',
      `${text} does not say whose rows to aggregate`,
      'Name a field, like count(orders.id), or use a metric.',
    );
  }
  if (
    home !== undefined &&
    owners.includes(home) &&
    owners.every((owner) => canReach(model, home, owner))
  )
    return { owner: home, of, where };
  const branch = singleCaseBranch(of);
  const [owner, ...others] = branch === undefined ? [] : anchorsOf(model, branch.value, home);
  if (branch !== undefined && owner !== undefined && others.length === 0)
    return { owner, of: branch.value, where: [...where, branch.when] };
  const hint = `Put it as a metric into the file of the dataset whose rows count once: ${owners.join(' or ')}.`;
  throw queryError(
    'mixed_owners',
    `${text} uses ${owners.join(' and ')}, so it is not clear whose rows count once`,
    hint,
  );
}

/** Of `CASE WHEN … THEN … END`, which has one branch and no ELSE. */
function singleCaseBranch(
  row: RowSql,
): { readonly when: RowSql; readonly value: RowSql } | undefined {
  const tokens = row.fragment.tokens.filter((token) => isWithin(token, row.span));
  const count = (word: string): number => tokens.filter((token) => isWord(token, word)).length;
  if (['case', 'when', 'then', 'end'].some((word) => count(word) !== 1) || count('else') > 0)
    return undefined;
  if (!isWord(tokens[0], 'case') || !isWord(tokens[1], 'when') || !isWord(tokens.at(-1), 'end'))
    return undefined;
  const then = tokens.findIndex((token) => isWord(token, 'then'));
  const piece = (from: number, to: number): RowSql => ({
    ...row,
    span: { start: tokens[from]?.start ?? 0, end: tokens[to]?.end ?? 0 },
  });
  return { when: piece(2, then - 1), value: piece(then + 1, tokens.length - 2) };
}

function anchorsOf(model: SemanticModel, row: RowSql, home: string | undefined): readonly string[] {
  const names = row.fragment.references.filter((it) => isWithin(it, row.span));
  const others = names.filter((name) => !followsRoles(model, name));
  return [
    ...new Set(
      (others.length === 0 ? names : others).map((reference) => anchorOf(model, reference, home)),
    ),
  ];
}

/** Starts from the rows that are counted: beside other names, it does not say which those are. */
function followsRoles(
  model: SemanticModel,
  { parts: [first = '', ...more] }: ColumnReference,
): boolean {
  return more.length > 1 || (more.length === 1 && !model.datasets.has(first));
}

function anchorOf(
  model: SemanticModel,
  { parts }: ColumnReference,
  home: string | undefined,
): string {
  const [first = '', second = ''] = parts;
  if (parts.length === 1 && home !== undefined) return home;
  if (parts.length === 1) {
    const hint = 'A field is written with its dataset.';
    throw queryError('unknown_name', `The name ${first} is unknown inside an aggregate`, {
      hint,
      choices: fieldAddressesNamed(model, first),
    });
  }
  if (parts.length === 2 && model.datasets.has(first)) return first;
  if (parts.length === 2 && home === undefined) {
    const fits = (dataset: string) =>
      fieldAddressesNamed(model, second).includes(`${dataset}.${second}`);
    throw unknownDatasetError(model, first, { rest: second, fits });
  }
  throw notSupportedError(
    'an aggregate over a path of roles',
    `${parts.join('.')} is one; aggregate dataset.field`,
  );
}
