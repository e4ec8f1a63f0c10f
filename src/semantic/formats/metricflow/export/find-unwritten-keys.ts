import type { Dataset } from '../../../model/dataset.ts';
import type { DatasetField } from '../../imported-model.ts';
import type { PlainObject } from '../../patch.ts';
import type { DbtEntity } from './dbt-entities.ts';

/**
 * What a dataset says that has no equivalent in dbt, each as a phrase: `segments`, `type of
 * fields`.
 */
export function findUnwrittenKeys(
  dataset: Dataset,
  entities: readonly DbtEntity[],
): readonly string[] {
  const { fields = [], metrics = [], relationships = [] } = dataset;
  const isEntity = ({ name }: DatasetField) => entities.some(({ field }) => field === name);
  return [
    ...usedKeys([dataset], datasetKeys),
    ...unwrittenKeyColumns(dataset, entities),
    ...usedKeys(fields, fieldKeys).map((key) => `${key} of fields`),
    ...usedKeys(fields.filter(isEntity), ['description']).map((key) => `${key} of keys`),
    ...usedKeys(metrics, metricKeys).map((key) => `${key} of metrics`),
    ...usedKeys(
      metrics.filter(({ agg }) => agg === undefined),
      ['default'],
    ).map((key) => `${key} of derived metrics`),
    ...usedKeys(relationships, relationshipKeys).map((key) => `${key} of relationships`),
  ];
}

const datasetKeys = [
  'synonyms',
  'tags',
  'partition',
  'segments',
  'parameters',
  'fiscal_year_start',
  'row_metrics',
  'conformed_dimensions',
  'values',
  'pii',
  'extensions',
];
const fieldKeys = ['type', 'values', 'pii', 'synonyms', 'hidden', 'extensions'];
const metricKeys = ['unit', 'owner', 'synonyms', 'hidden', 'extensions'];
const relationshipKeys = ['description', 'extensions'];

/** The keys that at least one of the objects has. */
function usedKeys(objects: readonly object[], keys: readonly string[]): readonly string[] {
  return keys.filter((key) => objects.some((object) => (object as PlainObject)[key] !== undefined));
}

function unwrittenKeyColumns(
  { primary_key = [], unique_keys = [] }: Dataset,
  entities: readonly DbtEntity[],
): readonly string[] {
  const isEntity = (column: string | undefined) => entities.some(({ field }) => field === column);
  const hasCompositeKey = [primary_key, ...unique_keys].some((key) => key.length > 1);
  const hasUnjoinedKey = unique_keys.some((key) => key.length === 1 && !isEntity(key[0]));
  return [
    ...(hasCompositeKey ? ['keys of several columns'] : []),
    ...(hasUnjoinedKey ? ['unique keys that nothing joins'] : []),
  ];
}
