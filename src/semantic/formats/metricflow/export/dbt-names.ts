import type { Dataset } from '../../../model/dataset.ts';
import type { MetricDefinition } from '../../../model/metric-definition.ts';
import {
  type AddMisfit,
  type DatasetField,
  type DatasetRelationship,
  modelWideNames,
  uniqueNames,
} from '../../imported-model.ts';
import { type DbtEntity, nameEntities } from './dbt-entities.ts';
import { toDbtMetricName, toDbtName } from './to-dbt-name.ts';

/** The names that ktx's objects get in dbt, where all names of a project share one namespace. */
export interface DbtNames {
  /** By dataset. */
  readonly entities: ReadonlyMap<string, readonly DbtEntity[]>;
  /** The entity that dbt joins by, for each relationship that dbt can express. */
  readonly joins: ReadonlyMap<DatasetRelationship, string>;
  /** By dataset, for the fields that are no entities. */
  readonly dimensions: ReadonlyMap<string, ReadonlyMap<DatasetField, string>>;
  readonly metrics: ReadonlyMap<MetricDefinition, string>;
}

/** Chooses all names at once. Names that differ from ktx's are reported. */
export function chooseDbtNames(datasets: readonly Dataset[], addMisfit: AddMisfit): DbtNames {
  const { entities, joins } = nameEntities(datasets, addMisfit);
  const dimensions = new Map(
    datasets.map((dataset) => [
      dataset.dataset,
      nameDimensions(dataset, entities.get(dataset.dataset) ?? [], addMisfit),
    ]),
  );
  return { entities, joins, dimensions, metrics: nameMetrics(datasets, addMisfit) };
}

/** Names the fields that are neither hidden nor covered by an entity. */
function nameDimensions(
  { dataset, fields = [] }: Dataset,
  entities: readonly DbtEntity[],
  addMisfit: AddMisfit,
): ReadonlyMap<DatasetField, string> {
  const isEntity = ({ name, expr }: DatasetField) =>
    expr === undefined && entities.some(({ field }) => field === name);
  const dimensions = fields.filter((field) => field.hidden !== true && !isEntity(field));
  const entityNames = entities.map(({ name }) => name);
  const names = uniqueNames([
    ...entityNames,
    ...dimensions.map(({ name }) => toDbtName(name)),
  ]).slice(entityNames.length);
  for (const [index, { name }] of dimensions.entries())
    if (names[index] !== name)
      addMisfit(`fields.${dataset}.${name}`, `is called ${names[index]} in dbt`);
  return new Map(dimensions.map((field, index) => [field, names[index] ?? field.name]));
}

function nameMetrics(
  datasets: readonly Dataset[],
  addMisfit: AddMisfit,
): ReadonlyMap<MetricDefinition, string> {
  const all = datasets.flatMap(({ dataset, metrics = [] }) =>
    metrics.map((metric) => ({ dataset, metric })),
  );
  const wideNames = modelWideNames(
    all.map(({ dataset, metric }) => ({ dataset, name: metric.name })),
  );
  const dbtNames = uniqueNames(wideNames.map(toDbtMetricName));
  const names = new Map(all.map(({ metric }, index) => [metric, dbtNames[index] ?? metric.name]));
  for (const { dataset, metric } of all) {
    const name = names.get(metric);
    if (name !== metric.name)
      addMisfit(`metrics.${dataset}.${metric.name}`, `is called ${name} in dbt`);
  }
  return names;
}
