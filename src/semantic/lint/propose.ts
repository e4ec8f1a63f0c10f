import { UserError } from '../../lib/error.ts';
import { isRecord } from '../../lib/json.ts';
import { asNode } from '../../sql/analyzer.ts';
import {
  columnIdentity,
  metricAddress,
  type ModelDataset,
  type SemanticModel,
} from '../model/model.ts';
import { createPlan } from '../plan/plan.ts';
import { querySchema } from '../query/query.ts';
import { identityOf } from './repeated-rows.ts';
import { findColumn, type SelectScope, type TableColumn } from './scopes.ts';
import { allowedValues, conditionText, fixedConditions, parseFilter } from './conditions.ts';
import { curatedMetrics, type TracedAggregate } from './metrics.ts';
import { windowCalls } from './traces.ts';

export interface QueryProposal {
  readonly metrics: readonly string[];
  readonly dimensions: readonly string[];
  readonly where: readonly string[];
}

/**
 * A metric query for the same rows: every aggregate is a metric with exactly the filters of the
 * statement, every group a field, every other condition one that a query can have, and the joins
 * keep all rows, as those of ktx do. Undefined if any of this cannot be shown.
 */
export function proposeQuery(
  scope: SelectScope,
  aggregates: readonly TracedAggregate[],
  model: SemanticModel,
): QueryProposal | undefined {
  const { body } = scope.node;
  const hasMore = ['having', 'distinct', 'limit', 'offset', 'fetch', 'top', 'qualify'].some(
    (key) => {
      const option = body[key];
      return option !== undefined && option !== null && option !== false;
    },
  );
  const [owner, ...others] = new Set(aggregates.map(({ trace }) => trace?.steps[0]?.alias));
  if (hasMore || owner === undefined || others.length > 0 || !keepsRows(scope, owner))
    return undefined;
  if (!hasOnlyGroupsAndAggregates(scope)) return undefined;
  const conditions = whereConditions(scope, owner);
  const dimensions = scope.groups.map((group) =>
    fieldName(scope, owner, findColumn(group, scope.sources)),
  );
  if (conditions === undefined || dimensions.includes(undefined)) return undefined;
  const windows = windowCalls(scope);
  const metrics = aggregates.map((aggregate) =>
    windows.has(aggregate.node.body) ? undefined : metricFor(aggregate, conditions, model),
  );
  const [first] = metrics;
  if (first === undefined || metrics.includes(undefined)) return undefined;
  const known = metrics.filter((metric) => metric !== undefined);
  if (known.some(({ rest }) => rest.join() !== first.rest.join())) return undefined;
  const proposal = {
    metrics: [...new Set(known.map(({ address }) => address))],
    dimensions: [...new Set(dimensions.filter((name) => name !== undefined))],
    where: first.rest,
  };
  return canPlan(proposal, model) ? proposal : undefined;
}

/** True if every item of SELECT is one aggregate or one group. */
function hasOnlyGroupsAndAggregates({ outputs, node, groups, aggregates }: SelectScope): boolean {
  const items = node.body['expressions'];
  const count = Array.isArray(items) ? items.length : 0;
  const bodies = new Set(aggregates.map(({ body }) => body));
  const plain = (Array.isArray(items) ? items : []).filter((item: unknown) => {
    const outer = asNode(item);
    const inner = outer?.kind === 'alias' ? asNode(outer.body['this']) : outer;
    return inner !== undefined && (inner.kind === 'column' || bodies.has(inner.body));
  });
  return plain.length === count && count >= groups.length && outputs.size <= count;
}

/** True if every other source is joined by LEFT JOIN along a relationship to one row. */
function keepsRows(scope: SelectScope, owner: string): boolean {
  const joins = Array.isArray(scope.node.body['joins']) ? scope.node.body['joins'] : [];
  const areLeft = joins.every((join: unknown) => isRecord(join) && join['kind'] === 'Left');
  const [first] = scope.sources.keys();
  const others = [...scope.sources.keys()].filter((alias) => alias !== owner);
  return (
    first === owner && areLeft && others.every((alias) => stepTo(scope, owner, alias) !== undefined)
  );
}

/** The role by which the owner reaches an alias: its only equality is that of the relationship. */
function stepTo(scope: SelectScope, owner: string, alias: string): string | undefined {
  const [from, to] = [scope.sources.get(owner), scope.sources.get(alias)];
  if (from?.kind !== 'dataset' || to?.kind !== 'dataset') return undefined;
  const pairs = scope.equal
    .map(([left, right]) => (left.alias === owner ? [left, right] : [right, left]))
    .filter(([own, target]) => own?.alias === owner && target?.alias === alias)
    .map((pair) => pair.map((column) => identityOf(scope, column)).join(' = '));
  const step = from.dataset.toOne.find(({ to: target, legs: [leg, ...more] }) => {
    const relationship = leg?.relationship;
    if (target !== to.dataset.name || relationship === undefined || more.length > 0) return false;
    if (relationship.condition !== undefined || leg?.reversed === true) return false;
    const wanted = relationship.equal.map(({ own = '', target: other = '' }) =>
      [columnIdentity(from.dataset, own), columnIdentity(to.dataset, other)]
        .map((name) => name.toLowerCase())
        .join(' = '),
    );
    return wanted.toSorted().join() === pairs.toSorted().join();
  });
  return step?.name;
}

interface KnownCondition {
  readonly condition: unknown;
  readonly text: string;
}

/** The conditions of WHERE that a query can have; undefined if there are others. */
function whereConditions(scope: SelectScope, owner: string): readonly KnownCondition[] | undefined {
  const known: KnownCondition[] = [];
  for (const condition of scope.conditions) {
    const node = asNode(condition);
    const isJoin =
      node?.kind === 'eq' &&
      [node.body['left'], node.body['right']].every(
        (side) => findColumn(side, scope.sources) !== undefined,
      );
    if (isJoin) continue;
    const given = allowedValues(condition);
    const column = given && findColumn(given.column, scope.sources);
    const name = fieldName(scope, owner, column);
    if (given === undefined || name === undefined) return undefined;
    const values = given.values.map((value) => `'${value.replaceAll("'", "''")}'`);
    known.push({ condition, text: `${name} in (${values.join(', ')})` });
  }
  return known;
}

function fieldName(
  scope: SelectScope,
  owner: string,
  column: TableColumn | undefined,
): string | undefined {
  const source = column && scope.sources.get(column.alias);
  if (column === undefined || source?.kind !== 'dataset') return undefined;
  const { dataset } = source;
  const identity = identityOf(scope, column);
  const field = [...dataset.fields.values()].find(
    (candidate) =>
      candidate.hidden !== true &&
      columnIdentity(dataset, candidate.name).toLowerCase() === identity,
  );
  if (field === undefined) return undefined;
  if (column.alias === owner) return `${dataset.name}.${field.name}`;
  const role = stepTo(scope, owner, column.alias);
  const from = scope.sources.get(owner);
  return role === undefined || from?.kind !== 'dataset'
    ? undefined
    : `${from.dataset.name}.${role}.${field.name}`;
}

/** A metric all of whose filters the statement has; `rest` are the conditions beside them. */
function metricFor(
  { name, node, scope, trace }: TracedAggregate,
  conditions: readonly KnownCondition[],
  { dialect }: SemanticModel,
): { readonly address: string; readonly rest: readonly string[] } | undefined {
  if (trace?.origin === undefined || asNode(node.body['this'])?.kind !== 'column') return undefined;
  if (node.body['filter'] !== null && node.body['filter'] !== undefined) return undefined;
  const { dataset } = trace.origin;
  const fitting = curatedMetrics(name, trace.origin).flatMap((metric) => {
    if (
      metric.where !== undefined &&
      fixedConditions(metric.where).length < metric.where.conjuncts.length
    )
      return [];
    const used = fixedConditions(metric.where).map((filter) =>
      conditions.find(({ condition }) => isFilter(scope, condition, { filter, dataset, dialect })),
    );
    if (used.includes(undefined)) return [];
    const rest = conditions.filter((condition) => !used.includes(condition));
    return [{ address: metricAddress(metric), rest: rest.map(({ text }) => text) }];
  });
  return fitting.toSorted((a, b) => a.rest.length - b.rest.length)[0];
}

function isFilter(
  scope: SelectScope,
  condition: unknown,
  {
    filter,
    dataset,
    dialect,
  }: {
    readonly filter: string;
    readonly dataset: ModelDataset;
    readonly dialect: SemanticModel['dialect'];
  },
): boolean {
  const wanted = parseFilter(filter, dataset, dialect);
  if (wanted === undefined) return false;
  if (conditionText(scope, condition) === wanted.text) return true;
  const given = allowedValues(condition);
  const column = given && findColumn(given.column, scope.sources);
  const source = column && scope.sources.get(column.alias);
  return (
    given !== undefined &&
    column !== undefined &&
    source?.kind === 'dataset' &&
    source.dataset === dataset &&
    identityOf(scope, column) === wanted.allowed?.column &&
    given.values.toSorted().join() === wanted.allowed.values.toSorted().join()
  );
}

function canPlan(proposal: QueryProposal, model: SemanticModel): boolean {
  try {
    createPlan(model, querySchema.parse(proposal));
    return true;
  } catch (error) {
    if (error instanceof UserError) return false;
    throw error;
  }
}
