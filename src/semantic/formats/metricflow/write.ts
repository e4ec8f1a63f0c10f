import { stringify } from 'yaml';
import type { Dialect } from '../../../sql/dialect.ts';
import { type Dataset, splitTableName } from '../../model/dataset.ts';
import type { AddMisfit, DatasetField, Misfit } from '../imported-model.ts';
import { omitKeys, type PlainObject } from '../patch.ts';
import type { DbtEntity } from './export/dbt-entities.ts';
import { chooseDbtNames } from './export/dbt-names.ts';
import {
  columnSql,
  type DatasetExport,
  type DbtExport,
  findExportFault,
} from './export/dbt-sql.ts';
import { findUnwrittenKeys } from './export/find-unwritten-keys.ts';
import { NotInDbt } from './export/not-in-dbt.ts';
import { toDbtName } from './export/to-dbt-name.ts';
import { type DbtOutput, writeMetric } from './export/write-metric.ts';

/** dbt reads YAML 1.1, where `yes`, `on` and `1_000` are no texts unless they are quoted. */
const writeOptions = { lineWidth: 0, aliasDuplicateObjects: false, version: '1.1' } as const;

/**
 * Writes datasets as dbt semantic models and metrics. The misfits name what dbt cannot express.
 * Runs inside `withAnalyzer`.
 */
export function writeMetricflow(
  datasets: readonly Dataset[],
  { dialect }: { readonly dialect: Dialect },
): { readonly text: string; readonly misfits: readonly Misfit[] } {
  const misfits: Misfit[] = [];
  const addMisfit: AddMisfit = (at, message) => void misfits.push({ at, message });
  const tables = datasets.filter(({ dataset, source }) => {
    if (source === undefined)
      addMisfit(`datasets.${dataset}`, 'left out: in dbt, a query is a model of its own');
    return source !== undefined;
  });
  const dbtExport: DbtExport = {
    dialect,
    datasets: new Map(tables.map((dataset) => [dataset.dataset, dataset])),
    names: chooseDbtNames(tables, addMisfit),
  };
  const { measures, metrics } = writeMetrics(tables, dbtExport, addMisfit);
  const spines = tables.filter(({ time_spine }) => time_spine !== undefined);
  const models = tables
    .filter((home) => !spines.includes(home))
    .map((home) =>
      writeSemanticModel(
        { ...dbtExport, home },
        [...(measures.get(home.dataset)?.values() ?? [])],
        addMisfit,
      ),
    );
  const document = {
    semantic_models: models,
    ...(metrics.size > 0 && { metrics: [...metrics.values()] }),
    ...(spines.length > 0 && { models: spines.map((spine) => writeTimeSpine(spine, addMisfit)) }),
  };
  return { text: stringify(document, writeOptions), misfits };
}

/** A time spine is an option of a dbt model, which can be no semantic model then. */
function writeTimeSpine(spine: Dataset, addMisfit: AddMisfit): PlainObject {
  const { dataset, source = '', time_spine, description } = spine;
  const { column, grain, custom_periods: periods = {} } = time_spine ?? {};
  const { fields = [], metrics = [], relationships = [], segments = [] } = spine;
  const written = [column, ...Object.values(periods)];
  const more = [...fields.filter(({ name }) => !written.includes(name)), ...metrics, ...segments];
  if (more.length + relationships.length > 0)
    addMisfit(`datasets.${dataset}`, 'only its time spine is written, no other fields or metrics');
  const sourceNames = splitTableName(source) ?? [];
  return {
    name: sourceNames.at(-1) ?? dataset,
    ...omitKeys({ description }),
    ...(sourceNames.length > 1 && { config: { meta: { ktx: { source } } } }),
    time_spine: {
      standard_granularity_column: column,
      ...(Object.keys(periods).length > 0 && {
        custom_granularities: Object.entries(periods).map(([name, field]) => ({
          name,
          ...(name !== field && { column_name: field }),
        })),
      }),
    },
    columns: [{ name: column, granularity: grain }],
  };
}

/** Hidden metrics are written only if another metric uses them. */
function writeMetrics(
  datasets: readonly Dataset[],
  dbtExport: DbtExport,
  addMisfit: AddMisfit,
): DbtOutput {
  const output: DbtOutput = { measures: new Map(), metrics: new Map() };
  const visible = datasets.flatMap((home) =>
    (home.metrics ?? []).flatMap((metric) => (metric.hidden === true ? [] : [{ home, metric }])),
  );
  for (const { home, metric } of visible) {
    try {
      writeMetric(metric, { ...dbtExport, home, output, stack: [] });
    } catch (error) {
      if (!(error instanceof NotInDbt)) throw error;
      addMisfit(`metrics.${home.dataset}.${metric.name}`, `left out: ${error.message}`);
    }
  }
  return output;
}

function writeSemanticModel(
  context: DatasetExport,
  measures: readonly PlainObject[],
  addMisfit: AddMisfit,
): PlainObject {
  const { home, names } = context;
  const { dataset, source = '', description } = home;
  const at = `datasets.${dataset}`;
  const sourceNames = splitTableName(source) ?? [];
  const model = sourceNames.at(-1);
  const defaultTime = defaultTimeDimension(context);
  const entities = names.entities.get(dataset) ?? [];
  addMisfit(at, `ktx assumes that its dbt model is called ${model}`);
  if (measures.length > 0 && defaultTime === undefined)
    addMisfit(at, 'dbt refuses measures without a time: set default_time');
  noteUnwrittenKeys(home, entities, addMisfit);
  const dimensions = writeDimensions(context, addMisfit);
  const hasPrimaryEntity = entities.some(({ type }) => type === 'primary');
  return {
    name: toDbtName(dataset),
    model: `ref('${model}')`,
    ...omitKeys({
      description,
      defaults: defaultTime === undefined ? undefined : { agg_time_dimension: defaultTime },
    }),
    ...ktxConfig(home, sourceNames.length > 1),
    ...(!hasPrimaryEntity && { primary_entity: toDbtName(dataset) }),
    ...(entities.length > 0 && {
      entities: entities.map((entity) => writeEntity(entity, context)),
    }),
    ...(dimensions.length > 0 && { dimensions }),
    ...(measures.length > 0 && { measures }),
  };
}

/** What dbt has no key for, so that ktx reads it again. */
function ktxConfig({ source, missing }: Dataset, hasSchema: boolean): PlainObject {
  const ktx = omitKeys({
    source: hasSchema ? source : undefined,
    missing: missing === undefined ? 'zero' : undefined,
  });
  return Object.keys(ktx).length === 0 ? {} : { config: { meta: { ktx } } };
}

function defaultTimeDimension({ home, names }: DatasetExport): string | undefined {
  const field = home.fields?.find(({ name }) => name === home.default_time);
  return field && names.dimensions.get(home.dataset)?.get(field);
}

function writeEntity({ name, type, field }: DbtEntity, context: DatasetExport): PlainObject {
  const expr = context.home.fields?.find((candidate) => candidate.name === field)?.expr ?? field;
  return { name, type, expr: columnSql(expr, context) ?? field };
}

function writeDimensions(context: DatasetExport, addMisfit: AddMisfit): readonly PlainObject[] {
  const { dataset } = context.home;
  const dimensions = [...(context.names.dimensions.get(dataset) ?? [])];
  return dimensions.flatMap(([field, name]) => {
    const dimension = writeDimension(field, name, context);
    if (dimension !== undefined) return [dimension];
    const fault =
      findExportFault(field.expr, context) ?? 'dbt has no expressions over other datasets';
    addMisfit(`fields.${dataset}.${field.name}`, `left out: ${fault}`);
    return [];
  });
}

/** Undefined if dbt cannot express the field. */
function writeDimension(
  { name: fieldName, expr: fieldExpr, type, description }: DatasetField,
  name: string,
  context: DatasetExport,
): PlainObject | undefined {
  const expr = columnSql(fieldExpr ?? fieldName, context);
  if (expr === undefined) return undefined;
  const isTime = type?.startsWith('date') === true;
  const timeGranularity = type === 'date' ? 'day' : 'second';
  return {
    name,
    ...(isTime
      ? { type: 'time', type_params: { time_granularity: timeGranularity } }
      : { type: 'categorical' }),
    ...(expr !== name && { expr }),
    ...omitKeys({ description }),
  };
}

function noteUnwrittenKeys(
  dataset: Dataset,
  entities: readonly DbtEntity[],
  addMisfit: AddMisfit,
): void {
  const at = `datasets.${dataset.dataset}`;
  const unwritten = findUnwrittenKeys(dataset, entities);
  if (unwritten.length > 0) addMisfit(at, `dbt has no equivalent for: ${unwritten.join(', ')}`);
  if (dataset.access !== undefined)
    addMisfit(at, 'dbt has no row rules (access): there, everyone sees every row');
}
