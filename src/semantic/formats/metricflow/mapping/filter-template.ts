import { isRecord } from '../../../../lib/json.ts';
import { type BoundModel, dimensionField, entityField, quoteName } from './bound-model.ts';
import { UnreadableMetric } from '../spec/metric-spec.ts';
import { type Dimension, plainColumn, primaryEntity } from '../spec/semantic-model-schema.ts';

/**
 * Translates a filter template, as `{{ Dimension('customer__country') }} = 'DE'`, to a row filter
 * of the dataset of `home`.
 */
export function filterTemplateSql(
  template: string,
  home: BoundModel,
  models: readonly BoundModel[],
): string {
  const sql = template.replaceAll(/\{\{(.*?)\}\}/gs, (_, call: string) =>
    callSql(call.trim(), home, models),
  );
  if (/\{[{%#]/.test(sql))
    throw new UnreadableMetric(`its filter cannot be read: ${template.trim()}`);
  return sql.trim();
}

/**
 * `Dimension('a__b')`, `TimeDimension('a__b', 'month')`, `Entity('a')`, each with an optional
 * `.grain('month')`.
 */
const templateCall =
  /^(Dimension|TimeDimension|Entity)\(\s*(['"])(\w+)\2\s*(?:,\s*(['"])(\w+)\4\s*)?\)(?:\.grain\(\s*(['"])(\w+)\6\s*\))?$/;

export interface TemplateCall extends DimensionCall {
  readonly kind: string;
}

/** Undefined for anything but a dimension or an entity. */
export function parseTemplateCall(call: string): TemplateCall | undefined {
  const [, kind, , path = '', , argument, , grain] = templateCall.exec(call) ?? [];
  return kind === undefined ? undefined : { kind, path, grain: (argument ?? grain)?.toLowerCase() };
}

function callSql(call: string, home: BoundModel, models: readonly BoundModel[]): string {
  const metricCall = metricTemplate.exec(call);
  if (metricCall !== null) return metricSql(metricCall, home, models);
  const parsed = parseTemplateCall(call);
  if (parsed === undefined) throw new UnreadableMetric(`its filter uses ${call}`);
  const { kind, path } = parsed;
  return kind === 'Entity' ? entitySql(path, home) : dimensionSql(parsed, home, models);
}

/** `Metric('bookings', ['listing'])` or `Metric('bookings', group_by=['listing'])`. */
const metricTemplate = /^Metric\(\s*(['"])(\w+)\1\s*,\s*(?:group_by\s*=\s*)?\[([^[\]]*)\]\s*\)$/;

/** The metric by entities that the model has, and that lead to the rows of the metric too. */
function metricSql(
  [, , metric = '', list = '']: readonly (string | undefined)[],
  home: BoundModel,
  models: readonly BoundModel[],
): string {
  const paths = list
    .split(',')
    .map((item) => item.trim().replaceAll(/^['"]|['"]$/g, ''))
    .filter((path) => path !== '');
  if (paths.length === 0)
    throw new UnreadableMetric(`its filter uses Metric('${metric}') by nothing`);
  const fields = paths.map((path) => groupFieldSql(path, home, models));
  return `metric_by(${[quoteName(metric), ...fields].join(', ')})`;
}

/** An entity, by the field that identifies a row of its own dataset; or a dimension. */
function groupFieldSql(path: string, home: BoundModel, models: readonly BoundModel[]): string {
  if (path.includes('__')) return dimensionSql({ path, grain: undefined }, home, models);
  const owners = models.filter((model) => primaryEntity(model.spec) === path);
  const entity = home.spec.entities.find(({ name }) => name === path);
  const field = entity && entityField(home, entity);
  // Where models were created from the files, a role or the entity itself stands for its key.
  if (home.own !== undefined && owners.length > 0 && entity !== undefined) return quoteName(path);
  if (field !== undefined) return [home.dataset, field].map(quoteName).join('.');
  throw new UnreadableMetric(`its filter takes a metric by ${path}, which ${home.dataset} lacks`);
}

function entitySql(path: string, home: BoundModel): string {
  const entityName = path.split('__').at(-1);
  const entity = home.spec.entities.find(({ name }) => name === entityName);
  const field = entity && entityField(home, entity);
  if (field === undefined)
    throw new UnreadableMetric(
      `its filter uses the entity ${path}, which is no column of ${home.dataset}`,
    );
  return quoteName(field);
}

interface DimensionCall {
  /** Entities that lead to the dimension, then its name: `order__customer__country`. */
  readonly path: string;
  readonly grain: string | undefined;
}

/** The field of a dimension as SQL of the dataset of `home`; an expression in parentheses. */
export function dimensionSql(
  { path, grain }: DimensionCall,
  home: BoundModel,
  models: readonly BoundModel[],
): string {
  const steps = path.split('__');
  const name = steps.pop() ?? '';
  const isMetricTime = name === 'metric_time' && steps.length === 0;
  const entities = steps[0] === primaryEntity(home.spec) ? steps.slice(1) : steps;
  const hops = followEntities(entities, name, { home, models });
  const end = hops.at(-1) ?? home;
  const dimension = end.spec.dimensions.find(
    (candidate) =>
      candidate.name === (isMetricTime ? home.spec.defaults?.agg_time_dimension : name),
  );
  if (dimension === undefined)
    throw new UnreadableMetric(
      `its filter uses ${path}, which is no dimension of ${end.spec.name}`,
    );
  if (grain !== undefined && grain !== granularityOf(dimension))
    throw new UnreadableMetric(`its filter truncates ${path} to ${grain}`);
  const field = dimensionField(end, dimension);
  if (field !== undefined)
    return [...datasetPath(home, hops, entities), field.name].map(quoteName).join('.');
  if (end === home && plainColumn(dimension) === undefined) return `(${dimension.expr})`;
  throw new UnreadableMetric(`its filter uses ${path}, which is no field of ${end.dataset}`);
}

/** The models that the entities lead to, one after the other. */
function followEntities(
  entities: readonly string[],
  dimension: string,
  { home, models }: { readonly home: BoundModel; readonly models: readonly BoundModel[] },
): readonly BoundModel[] {
  const hops: BoundModel[] = [];
  for (const [index, entity] of entities.entries())
    hops.push(
      followEntity(entity, hops.at(-1) ?? home, {
        models,
        next: entities[index + 1] ?? dimension,
      }),
    );
  return hops;
}

/**
 * The model that an entity identifies one row of. If several do, the one with the dimension or
 * entity `next`.
 */
function followEntity(
  entity: string,
  from: BoundModel,
  { models, next }: { readonly models: readonly BoundModel[]; readonly next: string },
): BoundModel {
  const isTarget = (model: BoundModel) =>
    from.own === undefined
      ? primaryEntity(model.spec) === entity ||
        model.spec.entities.some(({ name, type }) => name === entity && type === 'unique')
      : from.own.roles.get(entity)?.includes(model.dataset) === true;
  const targets = models.filter(
    (model) =>
      model !== from &&
      isTarget(model) &&
      [...model.spec.dimensions, ...model.spec.entities].some(({ name }) => name === next),
  );
  const [target, ...others] = targets;
  if (target !== undefined && others.length === 0) return target;
  const reason =
    others.length > 0
      ? `leads to ${targets.map(({ spec }) => spec.name).join(' and ')}`
      : 'leads nowhere';
  throw new UnreadableMetric(
    `its filter uses the entity ${entity}, which from ${from.spec.name} ${reason}`,
  );
}

/**
 * The path written out in full, because the warehouse may have other ways to the same dataset: by
 * roles if the dataset was created from the model, else by datasets.
 */
function datasetPath(
  home: BoundModel,
  hops: readonly BoundModel[],
  entities: readonly string[],
): readonly string[] {
  const end = hops.at(-1);
  if (end === undefined || end === home) return [];
  return [
    home.dataset,
    ...(home.own === undefined ? hops.map(({ dataset }) => dataset) : entities),
  ];
}

/** Undefined for a dimension that is no time dimension. */
function granularityOf({ type_params: params }: Dimension): string | undefined {
  const granularity = isRecord(params) ? params['time_granularity'] : undefined;
  return typeof granularity === 'string' ? granularity.toLowerCase() : undefined;
}
