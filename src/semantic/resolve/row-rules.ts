import { notSupportedError, queryError } from '../query/errors.ts';
import { wholePiece } from '../relational/sql-piece.ts';
import type { ModelDataset, SemanticModel } from '../model/model.ts';
import type { ReadableRows } from '../relational/query-tree.ts';
import { toJoin, type JoinScope, type PlannedJoin } from './join-scope.ts';
import { predicateExpr, sqlPredicate } from './row-expr.ts';

const modelsByRole = new WeakMap<SemanticModel, Map<string | undefined, SemanticModel>>();

/**
 * The model as a role may read it. A dataset with row rules gives the rows for which a rule of the role holds, wherever a query
 * touches it, and an error where no rule names the role. A rule itself is asked of all rows.
 */
export function modelForRole(model: SemanticModel, role: string | undefined): SemanticModel {
  if (!model.hasRules) return model;
  const known = modelsByRole.get(model) ?? new Map<string | undefined, SemanticModel>();
  modelsByRole.set(model, known);
  const restricted = known.get(role) ?? {
    ...model,
    role,
    datasets: new Map(
      [...model.datasets].map(([name, dataset]) => [
        name,
        { ...dataset, rows: rowsForRole(model, dataset, role) },
      ]),
    ),
  };
  known.set(role, restricted);
  return restricted;
}

/** True where the role sees every row of it. */
export function seesAllRows({ access }: ModelDataset, role: string | undefined): boolean {
  return (
    access === undefined || access.some((rule) => rule.role === role && isAlways(rule.where.text))
  );
}

function isAlways(text: string): boolean {
  return /^\s*true\s*$/i.test(text);
}

/** Throws what is wrong with a rule. */
export function rowsForRole(
  model: SemanticModel,
  dataset: ModelDataset,
  role: string | undefined,
): ReadableRows {
  const { access, name, relation } = dataset;
  if (access === undefined || seesAllRows(dataset, role)) return relation;
  const own = access.filter((rule) => rule.role === role);
  if (own.length === 0) return { kind: 'denied', error: accessDenied(dataset, role) };
  const query = { week_start: 'monday' as const, timezone: undefined };
  const measured = () => {
    throw notSupportedError('a metric of the row in a row rule', `A rule of ${name} uses one`);
  };
  const joined = new Map<string, PlannedJoin>();
  const at = {
    model,
    owner: dataset,
    reach: 'many',
    joins: joined,
    existsJoins: undefined,
  } as const;
  const scope: JoinScope = {
    ...at,
    query,
    rowMetricValues: measured,
    notes: new Set(),
    shift: [],
    usedFields: new Set(),
  };
  const conditions = own.map(({ where }) =>
    predicateExpr(scope, sqlPredicate({ ...wholePiece(where), home: name })),
  );
  const either = conditions.flatMap((condition, index) =>
    index === 0 ? [condition] : [' OR ', condition],
  );
  const where = [{ kind: 'text', parts: either } as const];
  const joins = [...joined.values()].map(toJoin);
  return {
    kind: 'guarded',
    select: { kind: 'select', columns: [], from: { alias: name, relation }, joins, where },
  };
}

function accessDenied({ name, file, access = [] }: ModelDataset, role: string | undefined) {
  const roles = [...new Set(access.map((rule) => rule.role))];
  const message =
    role === undefined
      ? `${name} has row rules, and nobody said who asks`
      : `${name} has row rules, and none for the role ${role}`;
  const choices = roles.map((one) => `--role ${one}`).join(', ');
  return queryError(
    'no_access',
    message,
    `Choose who asks: ${choices}; or add a rule to access: in ${file}.`,
  );
}
