import { load as readYaml } from 'js-yaml';
import { z } from 'zod';

const text = z.string();
const list = <Item extends z.ZodType>(item: Item) =>
  z
    .array(item)
    .nullish()
    .transform((items) => items ?? []);
const manifestSchema = z.looseObject({
  semantic_models: list(
    z.looseObject({
      name: text,
      primary_entity: text.nullish(),
      defaults: z.looseObject({ agg_time_dimension: text.nullish() }).nullish(),
      entities: list(z.looseObject({ name: text, type: text, expr: z.unknown().optional() })),
      dimensions: list(
        z.looseObject({
          name: text,
          type: text,
          type_params: z.looseObject({ time_granularity: text.nullish() }).nullish(),
        }),
      ),
      measures: list(
        z.looseObject({
          name: text,
          agg_time_dimension: text.nullish(),
          agg_params: z.unknown().optional(),
        }),
      ),
    }),
  ),
  metrics: list(
    z.looseObject({
      name: text,
      type: text,
      time_granularity: text.nullish(),
      type_params: z.unknown().optional(),
    }),
  ),
});
const spinesSchema = z.looseObject({
  models: list(
    z.looseObject({
      name: text,
      time_spine: z
        .looseObject({
          standard_granularity_column: text,
          custom_granularities: list(z.looseObject({ name: text })),
        })
        .nullish(),
    }),
  ),
});

interface ManifestMetric {
  readonly type: string;
  readonly raw: unknown;
  /** The measures that it names itself. */
  readonly measures: readonly ManifestMeasure[];
  readonly timeGranularity: string | undefined;
}

interface ManifestMeasure {
  readonly name: string;
  readonly agg_params?: unknown;
  readonly model: z.infer<typeof manifestSchema>['semantic_models'][number];
  /** The finest period of its time. */
  readonly grain: string;
}

/** What the conversion of a query needs to know of a semantic manifest. */
export interface Manifest {
  readonly customGrains: ReadonlySet<string>;
  /** The time of the first time spine. */
  readonly spineTime: string;
  /** The metric and all that it is made of. */
  readonly metricsBehind: (name: string) => readonly ManifestMetric[];
  /** The field of an entity in the dataset of the metrics. */
  readonly entityField: (entity: string, metrics: readonly string[]) => string;
  /** The field by which a metric is grouped by an entity. */
  readonly keyOfEntity: (entity: string, metric: string) => string;
  /** The finest periods of the time dimensions with a name. */
  readonly dimensionGrains: (name: string) => readonly string[];
}

export function readManifest(manifestText: string, spinesText: string): Manifest {
  const { semantic_models: models, metrics } = manifestSchema.parse(readYaml(manifestText));
  const spines = spinesSchema.parse(readYaml(spinesText));
  const measures = models.flatMap((model) =>
    model.measures.map((measure) => {
      const time = measure.agg_time_dimension ?? model.defaults?.agg_time_dimension;
      const dimension = model.dimensions.find(({ name }) => name === time);
      const grain = dimension?.type_params?.time_granularity ?? 'day';
      return { ...measure, model, grain: grain.toLowerCase() };
    }),
  );
  const metricsBehind = (name: string): readonly ManifestMetric[] => {
    const raw = metrics.find((metric) => metric.name === name);
    const named = raw === undefined ? [name] : namesIn(raw.type_params);
    const own = {
      type: raw?.type.toLowerCase() ?? 'simple',
      raw,
      measures: measures.filter((measure) => named.includes(measure.name)),
      timeGranularity: raw?.time_granularity?.toLowerCase() ?? undefined,
    };
    const inputs = raw?.type.toLowerCase() === 'simple' ? [] : named;
    const isMetric = (input: string) =>
      input !== name && metrics.some((metric) => metric.name === input);
    return [own, ...inputs.filter(isMetric).flatMap(metricsBehind)];
  };
  return {
    customGrains: new Set(
      spines.models.flatMap(({ time_spine }) =>
        (time_spine?.custom_granularities ?? []).map(({ name }) => name),
      ),
    ),
    spineTime: spines.models
      .flatMap(({ name, time_spine: spine }) =>
        spine ? [`${name}.${spine.standard_granularity_column}`] : [],
      )
      .slice(0, 1)
      .join(''),
    metricsBehind,
    entityField: (entity, metricNames) => {
      const behind = metricNames.flatMap(metricsBehind).flatMap((metric) => metric.measures);
      const model = behind[0]?.model;
      const found = model?.entities.find(({ name }) => name === entity);
      const column = typeof found?.expr === 'string' ? found.expr : entity;
      return `${model?.name ?? entity}.${column}`;
    },
    keyOfEntity: (entity, metric) => {
      const owner = models.find(({ name: model, entities, ...others }) =>
        entities.some(
          ({ name, type }) =>
            (name === entity && type === 'primary') ||
            (others.primary_entity === entity && model !== ''),
        ),
      );
      if (owner !== undefined) return entity;
      const model = metricsBehind(metric).flatMap(({ measures: behind }) => behind)[0]?.model;
      const found = model?.entities.find(({ name }) => name === entity);
      return `${model?.name ?? entity}.${typeof found?.expr === 'string' ? found.expr : entity}`;
    },
    dimensionGrains: (dimension) =>
      models
        .flatMap(({ dimensions }) => dimensions)
        .filter(({ name, type }) => name === dimension && type.toLowerCase() === 'time')
        .map(({ type_params }) => type_params?.time_granularity?.toLowerCase() ?? 'day'),
  };
}

/** Every name of a measure or metric in the parameters of a metric. */
function namesIn(params: unknown): readonly string[] {
  if (typeof params === 'string') return [params];
  if (typeof params !== 'object' || params === null) return [];
  return Object.entries(params).flatMap(([key, value]) =>
    key === 'expr' || key === 'filter' || key === 'alias' ? [] : namesIn(value),
  );
}

const order = ['second', 'minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'];

/**
 * The period that a time without one stands for; undefined for any other dimension. `metric_time`
 * is the coarsest default of the metrics: their own, or that of their measures, at least a day.
 */
export function grainOfTimes(
  manifest: Manifest,
  path: readonly string[],
  metrics: readonly string[],
): string | undefined {
  if (path[0] !== 'metric_time') {
    const [grain, ...others] = new Set(manifest.dimensionGrains(path.at(-1) ?? ''));
    return others.length === 0 ? grain : 'day';
  }
  const ofMetrics = metrics.flatMap((name) => {
    const behind = manifest.metricsBehind(name);
    const own = behind[0]?.timeGranularity;
    return own === undefined
      ? ['day', ...behind.flatMap(({ measures }) => measures.map(({ grain }) => grain))]
      : [own];
  });
  return order.toReversed().find((grain) => ofMetrics.includes(grain));
}
