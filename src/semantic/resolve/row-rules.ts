import { notSupported, refused } from '../query/errors.ts';
import { wholeOf } from '../sql/expr.ts';
import type { ModelDataset, Rows, SemanticModel } from '../model/model.ts';
import { conditionExpr, plainJoin, type Scope, type ScopeJoin, testOf } from './scope.ts';

const cache = new WeakMap<SemanticModel, Map<string | undefined, SemanticModel>>();

/**
 * The model as a role may read it. A dataset with row rules gives the rows for which a rule of the role holds, wherever a query
 * touches it, and an error where no rule names the role. A rule itself is asked of all rows.
 */
export function modelFor(model: SemanticModel, role: string | undefined): SemanticModel {
  if (!model.hasRules) return model;
  const known = cache.get(model) ?? new Map<string | undefined, SemanticModel>();
  cache.set(model, known);
  const restricted = known.get(role) ?? {
    ...model,
    role,
    datasets: new Map(
      [...model.datasets].map(([name, dataset]) => [
        name,
        { ...dataset, rows: rowsFor(model, dataset, role) },
      ]),
    ),
  };
  known.set(role, restricted);
  return restricted;
}

/** True where the role sees every row of it. */
export function isOpen({ access }: ModelDataset, role: string | undefined): boolean {
  return (
    access === undefined || access.some((rule) => rule.role === role && isAlways(rule.where.text))
  );
}

function isAlways(text: string): boolean {
  return /^\s*true\s*$/i.test(text);
}

/** Throws what is wrong with a rule. */
export function rowsFor(
  model: SemanticModel,
  dataset: ModelDataset,
  role: string | undefined,
): Rows {
  const { access, name, relation } = dataset;
  if (access === undefined || isOpen(dataset, role)) return relation;
  const own = access.filter((rule) => rule.role === role);
  if (own.length === 0) return { kind: 'denied', error: denied(dataset, role) };
  const query = { week_start: 'monday' as const, timezone: undefined };
  const measured = () => {
    throw notSupported('a metric of the row in a row rule', `A rule of ${name} uses one`);
  };
  const joined = new Map<string, ScopeJoin>();
  const at = { model, owner: dataset, reach: 'many', joins: joined, inner: undefined } as const;
  const scope: Scope = { ...at, query, measured, notes: new Set(), shift: [], visited: new Set() };
  const conditions = own.map(({ where }) =>
    conditionExpr(scope, testOf({ ...wholeOf(where), home: name })),
  );
  const either = conditions.flatMap((condition, index) =>
    index === 0 ? [condition] : [' OR ', condition],
  );
  const where = [{ kind: 'text', parts: either } as const];
  const joins = [...joined.values()].map(plainJoin);
  return {
    kind: 'guarded',
    select: { kind: 'select', columns: [], from: { alias: name, relation }, joins, where },
  };
}

function denied({ name, file, access = [] }: ModelDataset, role: string | undefined) {
  const roles = [...new Set(access.map((rule) => rule.role))];
  const message =
    role === undefined
      ? `${name} has row rules, and nobody said who asks`
      : `${name} has row rules, and none for the role ${role}`;
  const choices = roles.map((one) => `--role ${one}`).join(', ');
  return refused(
    'no_access',
    message,
    `Choose who asks: ${choices}; or add a rule to access: in ${file}.`,
  );
}
