import { isWithin, parseSql } from '../../sql/analyzer.ts';
import type { Fragment } from '../../sql/fragment.ts';
import { type Dataset, type ParameterDefinition, splitTableName } from '../model/dataset.ts';
import {
  columnIdentity,
  conditionSide,
  type ModelDataset,
  type ModelRelationship,
  type RelationshipEnds,
} from '../model/model.ts';
import { parseParameterValue } from '../model/parameters.ts';
import { buildMetric } from './build-metric.ts';
import {
  type BuildContext,
  parseRowFragment,
  reportFailure,
  withoutParameters,
} from './fragments.ts';
import type { YamlPath } from './dataset-check.ts';

/**
 * A dataset with its expressions parsed; relationships are not linked yet. What is wrong is
 * reported, and the result must not be used then.
 */
export function buildDataset(outerContext: BuildContext, dataset: Dataset): ModelDataset {
  const context = { ...outerContext, parameters: parameterNames(outerContext, dataset) };
  const { dataset: name, primary_key = [], unique_keys = [] } = dataset;
  checkDuplicateNames(context, dataset);
  const segments = buildSegments(context, dataset);
  const relation = buildRelation(context, dataset);
  const built: ModelDataset = {
    name,
    file: context.file,
    relation,
    rows: relation,
    access: buildAccess(context, dataset),
    keys: [],
    defaultTime: dataset.default_time,
    isTimeUnreviewed: dataset.unreviewed?.includes('default_time') === true,
    timeSpine: dataset.time_spine,
    layer: dataset.layer,
    entity: dataset.entity,
    partition: dataset.partition,
    fiscalYearStart: dataset.fiscal_year_start,
    parameters: buildParameters(context, dataset.parameters),
    fields: buildFields(context, dataset),
    conformed: mapByName(dataset.conformed_dimensions ?? []),
    segments,
    metrics: mapByName(
      (dataset.metrics ?? []).map((metric, index) =>
        buildMetric(
          context,
          {
            ...metric,
            dataset: name,
            key: primary_key,
            keepsNull: dataset.missing === 'none' || metric.default !== undefined,
          },
          ['metrics', index],
        ),
      ),
    ),
    relationships: (dataset.relationships ?? []).map((relationship, index) =>
      buildRelationship(context, { ...relationship, from: name }, ['relationships', index]),
    ),
    primaryKey: primary_key.length === 0 ? undefined : primary_key,
    toOne: [],
    toMany: [],
  };
  const keys = [primary_key, ...unique_keys].filter((key) => key.length > 0);
  return { ...built, keys: keys.map((key) => key.map((column) => columnIdentity(built, column))) };
}

function parameterNames(
  context: BuildContext,
  { dataset, parameters = [], relationships = [] }: Dataset,
): BuildContext['parameters'] {
  const isTaken =
    dataset === 'param' ||
    relationships.some(({ to, role = to }) => to === 'param' || role === 'param');
  if (!isTaken) return new Set(parameters.map(({ name }) => name));
  if (parameters.length > 0) {
    context.fail(
      ['parameters'],
      'duplicate',
      'param is the name of a dataset or role, so it cannot stand for parameters',
    );
  }
  return undefined;
}

/** Names of one kind must differ by more than case: engines fold it. */
function checkDuplicateNames({ fail }: BuildContext, dataset: Dataset): void {
  for (const list of ['fields', 'segments', 'metrics', 'parameters'] as const) {
    const names = (dataset[list] ?? []).map(({ name }) => name.toLowerCase());
    for (const [index, name] of names.entries()) {
      if (names.indexOf(name) < index)
        fail([list, index, 'name'], 'duplicate', `${name} is declared twice in ${list}`);
    }
  }
  const usedNames = new Set((dataset.fields ?? []).map(({ name }) => name.toLowerCase()));
  for (const [index, { name }] of (dataset.row_metrics ?? []).entries()) {
    if (usedNames.has(name.toLowerCase()))
      fail(['row_metrics', index, 'name'], 'duplicate', `${name} is declared twice`);
    usedNames.add(name.toLowerCase());
  }
  for (const [index, { name }] of (dataset.conformed_dimensions ?? []).entries()) {
    const path = ['conformed_dimensions', index, 'name'];
    if (usedNames.has(name.toLowerCase())) fail(path, 'duplicate', `${name} is declared twice`);
    usedNames.add(name.toLowerCase());
  }
  const roles = (dataset.relationships ?? []).map(({ role, to }) => role ?? to);
  for (const [index, role] of roles.entries()) {
    const twin = roles
      .slice(0, index)
      .find((earlier) => earlier !== role && earlier.toLowerCase() === role.toLowerCase());
    if (twin === undefined) continue;
    const message = `The roles ${twin} and ${role} differ only by case`;
    fail(['relationships', index, 'role'], 'duplicate', message);
  }
}

function buildSegments(
  context: BuildContext,
  { segments = [] }: Dataset,
): ReadonlyMap<string, Fragment> {
  return new Map(
    segments.flatMap(({ name, where }, index): [string, Fragment][] => {
      const fragment = parseRowFragment(context, where, ['segments', index, 'where']);
      return fragment === undefined ? [] : [[name, fragment]];
    }),
  );
}

function buildAccess(context: BuildContext, { access }: Dataset): ModelDataset['access'] {
  return access?.flatMap(({ role, where }, index) => {
    const path = ['access', index, 'where'];
    const fragment = parseRowFragment(withoutParameters(context), where, path);
    return fragment === undefined ? [] : [{ role, where: fragment }];
  });
}

function buildFields(context: BuildContext, dataset: Dataset): ModelDataset['fields'] {
  const fields = (dataset.fields ?? []).map((field, index) => ({
    ...field,
    expr: parseRowFragment(context, field.expr, ['fields', index, 'expr']),
  }));
  const rowMetrics = (dataset.row_metrics ?? []).map(
    ({ metric, via = dataset.dataset, ...field }) => ({
      ...field,
      expr: undefined,
      rowMetric: { metric, via },
    }),
  );
  return mapByName([...fields, ...rowMetrics]);
}

/** The parameters, their values converted to their types. */
function buildParameters(
  context: BuildContext,
  parameters: readonly ParameterDefinition[] = [],
): readonly ParameterDefinition[] {
  return parameters.map((parameter, index) => {
    const path = ['parameters', index];
    const values = parameter.values?.flatMap(
      (value, position) =>
        reportFailure(context, [...path, 'values', position], () =>
          parseParameterValue({ ...parameter, values: undefined }, value),
        ) ?? [],
    );
    const { default: written } = parameter;
    if (written === undefined) return { ...parameter, values };
    const value = reportFailure(context, [...path, 'default'], () =>
      parseParameterValue({ ...parameter, values }, written),
    );
    return { ...parameter, values, default: value };
  });
}

function mapByName<Item extends { readonly name: string }>(
  items: readonly Item[],
): ReadonlyMap<string, Item> {
  return new Map(items.map((item) => [item.name, item]));
}

function buildRelation(context: BuildContext, dataset: Dataset): ModelDataset['relation'] {
  const { source, sql } = dataset;
  const parts = source === undefined ? [] : splitTableName(source);
  if ((source === undefined) === (sql === undefined))
    context.fail(['dataset'], 'source', 'A dataset has either source or sql');
  if (parts === undefined) {
    const message = `${source} is not table, schema.table or catalog.schema.table`;
    context.fail(['source'], 'source', message);
  }
  if (sql === undefined) return { kind: 'table', parts: parts ?? [] };
  const query = sql.trim().replace(/;$/, '');
  const statements = reportFailure(context, ['sql'], () => parseSql(query, context.dialect));
  if (statements !== undefined && statements.length !== 1)
    context.fail(['sql'], 'sql', 'The sql of a dataset is one query');
  return { kind: 'query', sql: query };
}

type RelationshipDefinition = NonNullable<Dataset['relationships']>[number];

function buildRelationship(
  context: BuildContext,
  relationship: RelationshipDefinition & { readonly from: string },
  path: YamlPath,
): ModelRelationship {
  const { from, to, on, role = to, cardinality = 'many_to_one', via, within } = relationship;
  if (cardinality === 'many_to_many' && via === undefined)
    context.fail(path, 'bridge', 'A many_to_many relationship needs its bridge');
  if (within !== undefined && cardinality !== 'many_to_one') {
    context.fail([...path, 'within'], 'within', {
      message: `A relationship with within: cannot be ${cardinality}`,
      hint: 'Leave cardinality out: one row of the target has the value.',
    });
  }
  const range = within && {
    field: within.field,
    from: within.from,
    to: within.to,
    includesEnd: within.includes_end === true,
  };
  const ends = { from, to, name: role };
  const isShared = relationship.shared === true;
  const base = { ...ends, cardinality, via, within: range, isShared };
  if (typeof on !== 'string') {
    const pairs = Object.entries(on).map(([own, target]) => ({ own, target }));
    return { ...base, condition: undefined, equal: pairs };
  }
  const condition = parseRowFragment(withoutParameters(context), on, [...path, 'on']);
  return {
    ...base,
    condition,
    equal: condition === undefined ? [] : findEqualities(condition, ends),
  };
}

/**
 * The conjuncts of a join condition that compare a name of one side with a name of the other, or
 * with a literal.
 */
function findEqualities(condition: Fragment, ends: RelationshipEnds): ModelRelationship['equal'] {
  return condition.conjuncts.flatMap((conjunct) => {
    const names = condition.references.filter((name) => isWithin(name, conjunct));
    const otherTokens = condition.tokens.filter(
      (token) => isWithin(token, conjunct) && !names.some((name) => isWithin(token, name)),
    );
    const literals = otherTokens.filter(({ kind }) => kind === 'string' || kind === 'number');
    const nameOf = (side: 'own' | 'target') =>
      names.find(({ parts }) => conditionSide(ends, parts) === side)?.parts.at(-1);
    const own = nameOf('own');
    const target = nameOf('target');
    const sides = [own, target].filter((name) => name !== undefined);
    const isComparison =
      names.length + literals.length === 2 &&
      otherTokens.length === literals.length + 1 &&
      otherTokens.some(({ text }) => text === '=');
    return isComparison && names.length === sides.length ? [{ own, target }] : [];
  });
}
