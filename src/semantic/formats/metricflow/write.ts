import { stringify } from 'yaml';
import type { Dialect } from '../../../sql/dialect.ts';
import { type Dataset, sourceParts } from '../../model/dataset.ts';
import type { DatasetField, Misfit } from '../imported-model.ts';
import { type Entry, without } from '../patch.ts';
import { type FlowOut, Unsayable, writeMetric } from './write-metrics.ts';
import { type EntityOut, flowName, flowNames } from './dbt-names.ts';
import { columnSql, faultOf, type Flow } from './write-sql.ts';

type Note = (at: string, message: string) => void;

/** Datasets as dbt's semantic models and metrics, and what dbt has no words for. Runs inside `withAnalyzer`. */
export function writeMetricflow(
  all: readonly Dataset[],
  { dialect }: { readonly dialect: Dialect },
) {
  const misfits: Misfit[] = [];
  const note: Note = (at, message) => void misfits.push({ at, message });
  const datasets = all.filter(({ dataset, source }) => {
    if (source === undefined)
      note(`datasets.${dataset}`, 'left out: a query is a model of its own in dbt');
    return source !== undefined;
  });
  const flow: Flow = {
    dialect,
    datasets: new Map(datasets.map((one) => [one.dataset, one])),
    names: flowNames(datasets, note),
  };
  const out: FlowOut = { measures: new Map(), metrics: new Map() };
  const visible = datasets.flatMap((home) =>
    (home.metrics ?? []).flatMap((metric) => (metric.hidden === true ? [] : [{ home, metric }])),
  );
  for (const { home, metric } of visible) {
    try {
      writeMetric(metric, { ...flow, home, out });
    } catch (error) {
      if (!(error instanceof Unsayable)) throw error;
      note(`metrics.${home.dataset}.${metric.name}`, `left out: ${error.message}`);
    }
  }
  const models = datasets.map((dataset) => semanticModel(dataset, { flow, out, note }));
  const document = {
    semantic_models: models,
    ...(out.metrics.size > 0 && { metrics: [...out.metrics.values()] }),
  };
  return { text: stringify(document, { lineWidth: 0, aliasDuplicateObjects: false }), misfits };
}

function semanticModel(
  home: Dataset,
  { flow, out, note }: { readonly flow: Flow; readonly out: FlowOut; readonly note: Note },
): Entry {
  const { dataset, source = '', description, default_time: time } = home;
  const at = `datasets.${dataset}`;
  const { entities, dimensions } = flow.names;
  const own = entities.get(dataset) ?? [];
  const parts = sourceParts(source) ?? [];
  const timeField = home.fields?.find(({ name }) => name === time);
  const agg_time_dimension = timeField && dimensions.get(dataset)?.get(timeField);
  const measures = [...(out.measures.get(dataset)?.values() ?? [])];
  note(at, `its dbt model is taken to be called ${parts.at(-1)}`);
  if (measures.length > 0 && agg_time_dimension === undefined)
    note(at, 'dbt refuses measures without a time: give it default_time');
  noteAside(home, at, { entities: own, note });
  const dims = [...(dimensions.get(dataset) ?? [])].flatMap(([field, name]) => {
    const entry = dimension(field, name, { ...flow, home });
    if (entry === undefined)
      note(
        `fields.${dataset}.${field.name}`,
        `left out: ${faultOf(field.expr, flow) ?? 'dbt has no expression over other datasets'}`,
      );
    return entry ?? [];
  });
  const expr = (name: string) =>
    columnSql(home.fields?.find((one) => one.name === name)?.expr ?? name, { ...flow, home }) ??
    name;
  return {
    name: flowName(dataset),
    model: `ref('${parts.at(-1)}')`,
    ...without({ description, defaults: agg_time_dimension && { agg_time_dimension } }),
    ...(parts.length > 1 && { config: { meta: { ktx: { source } } } }),
    ...(own.some(({ type }) => type === 'primary') ? {} : { primary_entity: flowName(dataset) }),
    ...(own.length > 0 && {
      entities: own.map(({ name, type, field }) => ({ name, type, expr: expr(field) })),
    }),
    ...(dims.length > 0 && { dimensions: dims }),
    ...(measures.length > 0 && { measures }),
  };
}

function dimension(
  field: DatasetField,
  name: string,
  at: Flow & { readonly home: Dataset },
): Entry | undefined {
  const expr = columnSql(field.expr ?? field.name, at);
  if (expr === undefined) return undefined;
  const isTime = field.type?.startsWith('date') === true;
  const kind = isTime
    ? { type: 'time', type_params: { time_granularity: field.type === 'date' ? 'day' : 'second' } }
    : { type: 'categorical' };
  return {
    name,
    ...kind,
    ...(expr !== name && { expr }),
    ...without({ description: field.description }),
  };
}

/** What of a dataset dbt has no word for. */
function noteAside(
  dataset: Dataset,
  at: string,
  { entities, note }: { readonly entities: readonly EntityOut[]; readonly note: Note },
) {
  const {
    synonyms,
    tags,
    segments,
    parameters,
    fiscal_year_start,
    row_metrics,
    access,
    extensions,
  } = dataset;
  const {
    unique_keys = [],
    primary_key = [],
    fields = [],
    metrics = [],
    relationships = [],
  } = dataset;
  const keysOf = (list: readonly object[], keys: readonly string[]) =>
    keys.filter((key) => list.some((one) => (one as Entry)[key] !== undefined));
  const isEntity = ([key]: readonly string[]) => entities.some(({ field }) => field === key);
  const isCovered = ({ name }: DatasetField) => entities.some(({ field }) => field === name);
  const whole = {
    synonyms,
    tags,
    segments,
    parameters,
    fiscal_year_start,
    row_metrics,
    extensions,
  };
  const aside = [
    ...keysOf([whole], Object.keys(whole)),
    ...([primary_key, ...unique_keys].some((key) => key.length > 1)
      ? ['keys of several columns']
      : []),
    ...(unique_keys.some((key) => key.length === 1 && !isEntity(key))
      ? ['unique keys that nothing joins']
      : []),
    ...keysOf(fields, ['type', 'values', 'synonyms', 'hidden', 'extensions']).map(
      (key) => `${key} of fields`,
    ),
    ...keysOf(fields.filter(isCovered), ['description']).map((key) => `${key} of keys`),
    ...keysOf(metrics, ['unit', 'synonyms', 'hidden', 'extensions']).map(
      (key) => `${key} of metrics`,
    ),
    ...keysOf(relationships, ['description', 'extensions']).map((key) => `${key} of relationships`),
  ];
  if (aside.length > 0) note(at, `dbt has no word for: ${aside.join(', ')}`);
  if (access !== undefined)
    note(at, 'dbt has no row rules (access): there, everyone sees every row');
}
