import { isRecord } from '../../../lib/json.ts';
import type { Dataset } from '../../model/dataset.ts';
import type { AddMisfit, DatasetField } from '../imported-model.ts';
import { omitKeys } from '../patch.ts';
import { type BoundModel, synonymsFor } from './mapping/bound-model.ts';
import { ktxMeta } from './spec/metric-spec.ts';
import {
  type Dimension,
  type Entity,
  plainColumn,
  primaryEntity,
  type SemanticModelSpec,
  tableOfModel,
} from './spec/semantic-model-schema.ts';

/** A semantic model with the dataset that was created from it. */
export interface CreatedModel extends BoundModel {
  /** Without relationships and metrics. */
  readonly created: Dataset;
  readonly own: {
    readonly fields: ReadonlyMap<string, string>;
    readonly roles: Map<string, readonly string[]>;
  };
}

const readKeys = [
  'name',
  'model',
  'description',
  'label',
  'primary_entity',
  'defaults',
  'entities',
  'dimensions',
  'measures',
  'config',
  'meta',
  'node_relation',
];

/** Creates the dataset of a semantic model: its table, keys and fields. */
export function createDataset(
  spec: SemanticModelSpec,
  dataset: string,
  addMisfit: AddMisfit,
): CreatedModel {
  const at = `semantic_models.${spec.name}`;
  for (const key of Object.keys(spec))
    if (!readKeys.includes(key)) addMisfit(`${at}.${key}`, 'not read: ktx has no equivalent');
  const { fields, fieldNames } = createFields(spec);
  const fieldsOfEntities = (type: string) =>
    spec.entities
      .filter((entity) => entity.type === type)
      .flatMap((entity) => fieldNames.get(entity.name) ?? []);
  const [key] = fieldsOfEntities('primary');
  const uniqueFields = [...new Set(fieldsOfEntities('unique'))].filter((name) => name !== key);
  const synonyms = synonymsFor(dataset, [spec.label]);
  const others = omitKeys({
    description: spec.description,
    synonyms: synonyms.length === 0 ? undefined : synonyms,
    primary_key: key === undefined ? undefined : [key],
    unique_keys: uniqueFields.length === 0 ? undefined : uniqueFields.map((name) => [name]),
    entity: primaryEntity(spec),
    partition: partitionOf(spec, fieldNames),
    missing: ktxMeta(spec)['missing'] === 'zero' ? undefined : ('none' as const),
    default_time: fieldNames.get(spec.defaults?.agg_time_dimension ?? ''),
    fields: fields.size === 0 ? undefined : [...fields.values()],
  });
  const { source, warning } = sourceOf(spec);
  if (warning !== undefined) addMisfit(at, warning);
  return {
    spec,
    dataset,
    field: (column) => fieldOfColumn(fields, column),
    created: { dataset, source, ...others },
    own: { fields: fieldNames, roles: new Map() },
  };
}

function partitionOf(
  { dimensions }: SemanticModelSpec,
  fieldNames: ReadonlyMap<string, string>,
): string | undefined {
  const partition = dimensions.find((dimension) => dimension['is_partition'] === true);
  return partition && fieldNames.get(partition.name);
}

/**
 * Fields by name, and their names by those of the entities and dimensions. An entity over a column
 * takes the column's name.
 */
function createFields({ entities, dimensions }: SemanticModelSpec) {
  const fields = new Map<string, DatasetField>();
  const fieldNames = new Map<string, string>();
  const addField = (member: Entity | Dimension, name: string, type?: DatasetField['type']) => {
    fieldNames.set(member.name, name);
    const existing = fields.get(name);
    const expr = member.expr?.trim() ?? member.name;
    const synonyms = synonymsFor(name, [...(existing?.synonyms ?? []), member.label]);
    const others = omitKeys({
      type: existing?.type ?? type,
      expr: expr === name ? undefined : expr,
      description: existing?.description ?? member.description,
      synonyms: synonyms.length === 0 ? undefined : synonyms,
    });
    fields.set(name, { name, ...others });
  };
  for (const entity of entities) addField(entity, plainColumn(entity) ?? entity.name);
  for (const dimension of dimensions)
    addField(
      dimension,
      dimension.name,
      dimension.type === 'time' ? timeType(dimension) : undefined,
    );
  return { fields, fieldNames };
}

function timeType({ type_params: params }: Dimension): DatasetField['type'] {
  const grain = isRecord(params) ? params['time_granularity'] : undefined;
  const dateGrains = ['day', 'week', 'month', 'quarter', 'year'];
  return typeof grain === 'string' && dateGrains.includes(grain.toLowerCase())
    ? 'date'
    : 'datetime';
}

/**
 * A column is out of reach if a field with another expression has its name, unless another field
 * stands for it.
 */
function fieldOfColumn(
  fields: ReadonlyMap<string, DatasetField>,
  column: string,
): string | undefined {
  if (fields.get(column)?.expr === undefined) return column;
  return [...fields.values()].find(({ expr }) => expr === column)?.name;
}

/** The table of the dataset; `warning` if it is a guess. */
function sourceOf(spec: SemanticModelSpec): {
  readonly source: string;
  readonly warning?: string;
} {
  const writtenByKtx = ktxMeta(spec)['source'];
  if (typeof writtenByKtx === 'string') return { source: writtenByKtx };
  const relation = spec.node_relation?.['relation_name'];
  if (typeof relation === 'string') return { source: relation.replaceAll('`', '"') };
  const { table = spec.name, schema, database, isGuess } = tableOfModel(spec);
  const source = [database, schema, table].filter((part) => part !== undefined).join('.');
  if (isGuess)
    return {
      source,
      warning: `ktx reads ${spec.model} as the table ${source}: correct source if the table is in another schema`,
    };
  return spec.model === undefined && !spec.node_relation
    ? { source, warning: `it names no model, so ktx reads it as the table ${source}` }
    : { source };
}
