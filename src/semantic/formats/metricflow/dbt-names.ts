import type { Dataset, MetricDefinition } from '../../model/dataset.ts';
import { reservedWords } from '../../../sql/scalar-functions.ts';
import { uniqueNames, type DatasetField, type DatasetRelationship } from '../imported-model.ts';
import { modelNames } from '../ossie/write-model.ts';

/** An entity of a semantic model. */
export interface EntityOut {
  readonly name: string;
  readonly type: 'primary' | 'unique' | 'foreign';
  /** The field that it is. */
  readonly field: string;
}

/** What the things of the datasets are called in dbt, whose names are those of the whole project. */
export interface FlowNames {
  /** By dataset. */
  readonly entities: ReadonlyMap<string, readonly EntityOut[]>;
  /** What dbt joins by, for each relationship that it can say. */
  readonly joins: ReadonlyMap<DatasetRelationship, string>;
  /** By dataset, of fields that are no entities. */
  readonly dimensions: ReadonlyMap<string, ReadonlyMap<DatasetField, string>>;
  readonly metrics: ReadonlyMap<MetricDefinition, string>;
}

type Note = (at: string, message: string) => void;

const reserved =
  /^(?:metric_time|nanosecond|microsecond|millisecond|second|minute|hour|day|week|month|quarter|year)$/;

/** Small letters, digits and single underscores, two at least. */
export function flowName(name: string): string {
  const plain = name
    .toLowerCase()
    .replaceAll(/_{2,}/g, '_')
    .replaceAll(/^_+|_+$/g, '');
  return plain.length < 2 || reserved.test(plain) || /^\d/.test(plain) ? `the_${plain}` : plain;
}

/** dbt writes the names of metrics and measures into SQL, without quotes. */
function metricName(name: string): string {
  const plain = flowName(name);
  return reservedWords.has(plain) ? `the_${plain}` : plain;
}

export function flowNames(datasets: readonly Dataset[], note: Note): FlowNames {
  const { entities, joins } = entitiesOf(datasets, note);
  const dimensions = new Map(
    datasets.map((dataset) => [
      dataset.dataset,
      dimensionsOf(dataset, entities.get(dataset.dataset) ?? [], note),
    ]),
  );
  const all = datasets.flatMap(({ dataset, metrics = [] }) =>
    metrics.map((metric) => ({ dataset, metric })),
  );
  const names = uniqueNames(
    modelNames(all.map(({ dataset, metric }) => ({ dataset, name: metric.name }))).map(metricName),
  );
  const metrics = new Map(all.map(({ metric }, index) => [metric, names[index] ?? metric.name]));
  for (const { dataset, metric } of all) {
    const name = metrics.get(metric);
    if (name !== metric.name) note(`metrics.${dataset}.${metric.name}`, `is called ${name} there`);
  }
  return { entities, joins, dimensions, metrics };
}

/** dbt joins by the names of entities: the key of each dataset, and beside it one for each role. */
function entitiesOf(datasets: readonly Dataset[], note: Note) {
  const entities = new Map(
    datasets.map(({ dataset, primary_key: [key, ...others] = [] }): [string, EntityOut[]] => {
      const isOne = key !== undefined && others.length === 0;
      return [dataset, isOne ? [{ name: flowName(dataset), type: 'primary', field: key }] : []];
    }),
  );
  // The one column that a name stands for, wherever it is a key.
  const meant = new Map(
    datasets.map(({ dataset, primary_key: [key] = [] }) => [
      flowName(dataset),
      `${dataset}.${key}`,
    ]),
  );
  const joins = new Map<DatasetRelationship, string>();
  for (const dataset of datasets) {
    for (const relationship of dataset.relationships ?? []) {
      const { to, role = to } = relationship;
      const keys = joinKeys(relationship, datasets);
      const reason =
        typeof keys === 'string'
          ? keys
          : dataset.dataset === to
            ? 'a dataset cannot join itself there'
            : undefined;
      if (typeof keys === 'string' || reason !== undefined) {
        note(`relationships.${dataset.dataset}.${role}`, `left out: ${reason}`);
        continue;
      }
      const key = `${to}.${keys.target}`;
      const [name] = [role, `${dataset.dataset}_${role}`]
        .map(flowName)
        .filter((one) => (meant.get(one) ?? key) === key);
      const own = entities.get(dataset.dataset) ?? [];
      const twin = own.find((one) => one.name === name);
      if (name === undefined || (twin !== undefined && twin.field !== keys.own)) {
        note(
          `relationships.${dataset.dataset}.${role}`,
          'left out: its name means another key there',
        );
        continue;
      }
      if (name !== role)
        note(`relationships.${dataset.dataset}.${role}`, `is called ${name} there`);
      meant.set(name, key);
      joins.set(relationship, name);
      const targets = entities.get(to) ?? [];
      if (!targets.some((one) => one.name === name))
        entities.set(to, [...targets, { name, type: 'unique', field: keys.target }]);
      const isPair =
        relationship.cardinality === 'one_to_one' &&
        targets.some((one) => one.name === name && one.type === 'primary');
      if (relationship.cardinality === 'one_to_one' && !isPair)
        note(`relationships.${dataset.dataset}.${role}`, 'many to one there');
      if (twin === undefined)
        entities.set(dataset.dataset, [
          ...own,
          { name, type: isPair ? 'unique' : 'foreign', field: keys.own },
        ]);
    }
  }
  return { entities, joins };
}

/** The columns that it joins, or why dbt cannot. */
function joinKeys(
  { to, on, cardinality, within }: DatasetRelationship,
  datasets: readonly Dataset[],
) {
  const target = datasets.find(({ dataset }) => dataset === to);
  const [pair, ...more] = typeof on === 'string' ? [] : Object.entries(on);
  if (cardinality === 'many_to_many') return 'dbt has no bridges';
  if (within !== undefined) return 'dbt joins by equal values, not by ranges';
  if (target === undefined) return `${to} is not there`;
  if (pair === undefined || more.length > 0) return 'dbt joins by one column';
  const keys = [target.primary_key ?? [], ...(target.unique_keys ?? [])];
  if (!keys.some((key) => key.length === 1 && key[0] === pair[1]))
    return `${to}.${pair[1]} is no declared key`;
  return { own: pair[0], target: pair[1] };
}

/** Hidden fields are none. */
function dimensionsOf(
  { dataset, fields = [] }: Dataset,
  entities: readonly EntityOut[],
  note: Note,
): ReadonlyMap<DatasetField, string> {
  const covered = fields.filter(
    ({ name, expr }) => expr === undefined && entities.some(({ field }) => field === name),
  );
  const own = fields.filter((field) => field.hidden !== true && !covered.includes(field));
  const names = uniqueNames([
    ...entities.map(({ name }) => name),
    ...own.map(({ name }) => flowName(name)),
  ]).slice(entities.length);
  for (const [index, { name }] of own.entries()) {
    if (names[index] !== name) note(`fields.${dataset}.${name}`, `is called ${names[index]} there`);
  }
  return new Map(own.map((field, index) => [field, names[index] ?? field.name]));
}
