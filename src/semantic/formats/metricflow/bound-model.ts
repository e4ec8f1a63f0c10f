import { reservedWords } from '../../../sql/scalar-functions.ts';
import { UnreadableMetric } from './read-metric.ts';
import {
  plainColumn,
  type Dimension,
  type Entity,
  primaryEntity,
  type SemanticModelSpec,
} from './semantic-model-schema.ts';

/** A semantic model and the dataset that its rows are. */
export interface BoundModel {
  readonly spec: SemanticModelSpec;
  readonly dataset: string;
  /** The field that a column has, in whatever case it is written; undefined where there is no such column. */
  readonly field: (column: string) => string | undefined;
  /** Of a dataset that is made for the model: its fields by the names of the model, and where the roles lead that entities are. */
  readonly own?: {
    readonly fields: ReadonlyMap<string, string>;
    readonly roles: ReadonlyMap<string, string>;
  };
}

/** A dimension as a field: one that stands for a column, or one of its own with an expression. */
export type DimensionField =
  | { readonly kind: 'column'; readonly name: string }
  | { readonly kind: 'expression'; readonly name: string; readonly expr: string };

/** Undefined where the dataset has no such column, or one of the dimension's name that is not what the dimension says. */
export function dimensionField(
  model: BoundModel,
  dimension: Dimension,
): DimensionField | undefined {
  const made = model.own?.fields.get(dimension.name);
  if (made !== undefined) return { kind: 'column', name: made };
  const column = plainColumn(dimension);
  const own = model.field(column ?? dimension.name);
  if (column !== undefined) return own === undefined ? undefined : { kind: 'column', name: own };
  return own === undefined
    ? { kind: 'expression', name: dimension.name, expr: dimension.expr ?? dimension.name }
    : undefined;
}

/** Undefined where it is no column. */
export function entityField({ own, field }: BoundModel, entity: Entity): string | undefined {
  const column = plainColumn(entity);
  return own?.fields.get(entity.name) ?? (column === undefined ? undefined : field(column));
}

/** What people call a thing beside its name, each once: `Order Total` and `order_total` are the same words. */
export function synonymsFor(
  name: string,
  others: readonly (string | undefined)[],
): readonly string[] {
  const plain = (words: string) =>
    words
      .toLowerCase()
      .replaceAll(/[\s_-]+/g, ' ')
      .trim();
  return [...new Set(others)].filter(
    (one) => one !== undefined && one !== '' && plain(one) !== plain(name),
  ) as string[];
}

/** A name as an expression writes it. */
export function written(name: string): string {
  return /^[a-z_][a-z0-9_]*$/i.test(name) && !reservedWords.has(name.toLowerCase())
    ? name
    : `"${name.replaceAll('"', '""')}"`;
}

/** What a filter template says, as a row filter of the dataset of `home`. */
export function filterSql(
  template: string,
  home: BoundModel,
  models: readonly BoundModel[],
): string {
  const sql = template.replaceAll(/\{\{(.*?)\}\}/gs, (_, inner: string) =>
    referenceSql(inner.trim(), home, models),
  );
  if (/\{[{%#]/.test(sql))
    throw new UnreadableMetric(`its filter cannot be read: ${template.trim()}`);
  return sql.trim();
}

const call =
  /^(Dimension|TimeDimension|Entity)\(\s*(['"])(\w+)\2\s*(?:,\s*(['"])(\w+)\4\s*)?\)(?:\.grain\(\s*(['"])(\w+)\6\s*\))?$/;

function referenceSql(inner: string, home: BoundModel, models: readonly BoundModel[]): string {
  const [, kind, , path = '', , second, , third] = call.exec(inner) ?? [];
  if (kind === undefined) throw new UnreadableMetric(`its filter uses ${inner}`);
  if (kind === 'Entity') return entitySql(path, home);
  const grain = (second ?? third)?.toLowerCase();
  const parts = path.split('__');
  const name = parts.pop() ?? '';
  const isTime = name === 'metric_time' && parts.length === 0;
  const own = primaryEntity(home.spec);
  const hops = parts[0] === own ? parts.slice(1) : parts;
  const way = hops.reduce<readonly BoundModel[]>(
    (before, entity) => [
      ...before,
      hopTo(entity, before.at(-1) ?? home, {
        models,
        name: hops.at(-1) === entity ? name : undefined,
      }),
    ],
    [],
  );
  const end = way.at(-1) ?? home;
  const dimension = end.spec.dimensions.find(
    (one) => one.name === (isTime ? home.spec.defaults?.agg_time_dimension : name),
  );
  if (dimension === undefined)
    throw new UnreadableMetric(
      `its filter uses ${path}, which is no dimension of ${end.spec.name}`,
    );
  if (grain !== undefined && grain !== granularityOf(dimension))
    throw new UnreadableMetric(`its filter cuts ${path} to its ${grain}`);
  const field = dimensionField(end, dimension);
  if (field !== undefined) return [...pathFrom(home, way, hops), field.name].map(written).join('.');
  if (end === home && plainColumn(dimension) === undefined) return `(${dimension.expr})`;
  throw new UnreadableMetric(`its filter uses ${path}, which is no field of ${end.dataset}`);
}

/** Every step of it, since the warehouse may have other ways to the same place: by roles where the datasets have them, else by datasets. */
function pathFrom(
  home: BoundModel,
  way: readonly BoundModel[],
  hops: readonly string[],
): readonly string[] {
  if (way.at(-1) === undefined || way.at(-1) === home) return [];
  return [home.dataset, ...(home.own === undefined ? way.map(({ dataset }) => dataset) : hops)];
}

function entitySql(path: string, home: BoundModel): string {
  const name = path.split('__').at(-1);
  const entity = home.spec.entities.find((one) => one.name === name);
  const field = entity && entityField(home, entity);
  if (field === undefined)
    throw new UnreadableMetric(
      `its filter uses the entity ${path}, which is no column of ${home.dataset}`,
    );
  return written(field);
}

/** The model on the one side of an entity; of several the one that has the dimension. */
function hopTo(
  entity: string,
  from: BoundModel,
  { models, name }: { models: readonly BoundModel[]; name: string | undefined },
): BoundModel {
  const isOne = (model: BoundModel) =>
    from.own === undefined
      ? primaryEntity(model.spec) === entity ||
        model.spec.entities.some((one) => one.name === entity && one.type === 'unique')
      : from.own.roles.get(entity) === model.dataset;
  const all = models.filter((model) => model !== from && isOne(model));
  const fitting =
    name === undefined
      ? all
      : all.filter(({ spec }) => spec.dimensions.some((one) => one.name === name));
  const [only, ...others] = fitting;
  if (only !== undefined && others.length === 0) return only;
  const why =
    others.length > 0
      ? `leads to ${fitting.map(({ spec }) => spec.name).join(' and ')}`
      : 'leads nowhere';
  throw new UnreadableMetric(
    `its filter uses the entity ${entity}, which from ${from.spec.name} ${why}`,
  );
}

/** Of a time dimension. */
function granularityOf(dimension: Dimension): string | undefined {
  const { type_params: params } = dimension;
  const grain: unknown =
    params instanceof Object && 'time_granularity' in params ? params.time_granularity : undefined;
  return typeof grain === 'string' ? grain.toLowerCase() : undefined;
}
