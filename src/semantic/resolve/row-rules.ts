import type { UserError } from '../../lib/error.ts';
import { noKeys } from '../keys/key-assumption.ts';
import type { ModelDataset, SemanticModel } from '../model/model.ts';
import { notSupportedError, queryError } from '../query/errors.ts';
import type { ReadableRows } from '../relational/query-tree.ts';
import { wholePiece } from '../relational/sql-piece.ts';
import { type JoinScope, type PlannedJoin, toJoin } from './join-scope.ts';
import { predicateExpr, sqlPredicate } from './row-expr.ts';

const modelsByRole = new WeakMap<SemanticModel, Map<string | undefined, SemanticModel>>();

/**
 * The model as a role may read it. Wherever a query uses a dataset with row rules, it sees only the
 * rows that a rule of the role allows, and fails with `no_access` if there is none. The rules
 * themselves are evaluated over all rows.
 */
export function modelForRole(model: SemanticModel, role: string | undefined): SemanticModel {
  if (!model.hasRules) return model;
  const cached = modelsByRole.get(model) ?? new Map<string | undefined, SemanticModel>();
  modelsByRole.set(model, cached);
  const known = cached.get(role);
  if (known !== undefined) return known;
  const datasets = new Map(
    [...model.datasets].map(([name, dataset]) => [
      name,
      { ...dataset, rows: rowsForRole(model, dataset, role) },
    ]),
  );
  const restricted = { ...model, role, datasets };
  cached.set(role, restricted);
  return restricted;
}

/** True if the role sees every row: there are no rules, or one of its rules is `true`. */
export function seesAllRows({ access }: ModelDataset, role: string | undefined): boolean {
  return (
    access === undefined ||
    access.some((rule) => rule.role === role && isAlwaysTrue(rule.where.text))
  );
}

function isAlwaysTrue(text: string): boolean {
  return /^\s*true\s*$/i.test(text);
}

/**
 * The rows of a dataset that a role may read. Throws a `UserError` if a rule cannot be resolved.
 */
export function rowsForRole(
  model: SemanticModel,
  dataset: ModelDataset,
  role: string | undefined,
): ReadableRows {
  const { access, name, relation } = dataset;
  if (access === undefined || seesAllRows(dataset, role)) return relation;
  const rules = access.filter((rule) => rule.role === role);
  if (rules.length === 0) return { kind: 'denied', error: accessDenied(dataset, role) };
  const joins = new Map<string, PlannedJoin>();
  const keys = noKeys();
  const scope: JoinScope = {
    model,
    owner: dataset,
    reach: 'many',
    query: { week_start: 'monday', timezone: undefined },
    joins,
    existsJoins: undefined,
    notes: new Set(),
    compared: new Map(),
    keys,
    shift: [],
    usedFields: new Set(),
    rowMetricValues: () => {
      throw notSupportedError('a row metric in a row rule', `A rule of ${name} uses one`);
    },
    groupValues: () => {
      throw notSupportedError('metric_by in a row rule', `A rule of ${name} uses it`);
    },
  };
  const conditions = rules.map(({ where }) =>
    predicateExpr(scope, sqlPredicate({ ...wholePiece(where), home: name })),
  );
  const parts = conditions.flatMap((condition, index) =>
    index === 0 ? [condition] : [' OR ', condition],
  );
  return {
    kind: 'guarded',
    select: {
      kind: 'select',
      columns: [],
      from: { alias: name, relation },
      joins: [...joins.values()].map(toJoin),
      where: [{ kind: 'text', parts }],
    },
    assumes: [...keys.assumed.values()].map((key) => ({ ...key, use: 'row_rule' })),
  };
}

function accessDenied(
  { name, file, access = [] }: ModelDataset,
  role: string | undefined,
): UserError {
  const message =
    role === undefined
      ? `${name} has row rules, and the query names no role`
      : `${name} has row rules, and none for the role ${role}`;
  const roles = [...new Set(access.map((rule) => rule.role))];
  const choices = roles.map((known) => `--role ${known}`).join(', ');
  return queryError(
    'no_access',
    message,
    `Choose a role: ${choices}; or add a rule to access: in ${file}.`,
  );
}
