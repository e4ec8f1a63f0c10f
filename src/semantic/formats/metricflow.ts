import { load as readYaml, YAMLException } from 'js-yaml';
import { UserError } from '../../lib/error.ts';
import { check, sentence } from '../../lib/schema-check.ts';
import type { Dialect } from '../../sql/dialect.ts';
import { type Dataset, datasetSchema } from '../dataset.ts';
import {
  allowedDatasetName,
  distinct,
  type ForeignField,
  type ForeignModel,
  type ForeignRelationship,
  type Misfit,
} from './foreign-model.ts';
import { readFlowMetrics } from './metricflow-metrics.ts';
import { type FlowDataset, type FlowModel, metricflowSchema } from './metricflow-schema.ts';
import { isEntry, without } from './patch.ts';

const readKeys = {
  model: ['name', 'model', 'description', 'label', 'primary_entity', 'defaults', 'entities', 'dimensions', 'measures', 'config', 'meta', 'node_relation'],
  entity: ['name', 'type', 'expr', 'description', 'label', 'role', 'config', 'meta'],
}; // prettier-ignore

/** dbt's semantic models and metrics, of all files together. Runs inside `withAnalyzer`. Throws `import_invalid`. */
export function readMetricflow(texts: readonly string[], dialect: Dialect): ForeignModel {
  const misfits: Misfit[] = [];
  const note = (at: string, message: string) => void misfits.push({ at, message });
  const documents = texts.map((text) => parsed(text, note));
  const models = documents.flatMap(({ semantic_models }) => semantic_models);
  const names = distinct(models.map(({ name }) => allowedDatasetName(name)));
  const bare = models.map((model, index) => bareDataset(model, names[index] ?? model.name, note));
  const related = bare.map((one) => ({ ...one, dataset: { ...one.dataset, ...relationshipsOf(one, bare, note) } }));
  const metrics = documents.flatMap((document) => document.metrics);
  const byDataset = readFlowMetrics(metrics, { models: related, dialect, note });
  const datasets = related.flatMap(({ dataset }): Dataset[] => {
    const own = byDataset.get(dataset.dataset) ?? [];
    const { data, problems } = check(datasetSchema, without({ ...dataset, metrics: own.length === 0 ? undefined : own }));
    if (data === undefined) note(`semantic_models.${dataset.dataset}`, `left out: ${problems.map(sentence).join('; ')}`);
    return data === undefined ? [] : [data];
  });
  return { datasets, misfits };
}

type Note = (at: string, message: string) => void;

function parsed(text: string, note: Note) {
  const { data, problems } = check(metricflowSchema, fromYaml(text));
  if (data === undefined) throw invalid(problems.slice(0, 5).map(sentence).join('\n'));
  for (const key of Object.keys(data)) {
    if (!['semantic_models', 'metrics', 'version'].includes(key)) note(key, 'not read: ktx has no word for it');
  }
  return data;
}

function fromYaml(text: string): unknown {
  try {
    return readYaml(text);
  } catch (error) {
    if (error instanceof YAMLException) throw invalid(`This is not YAML: ${error.reason}`);
    throw error;
  }
}

function invalid(message: string): UserError {
  const hint = 'A file of dbt semantic models has the lists semantic_models and metrics.';
  return new UserError('import_invalid', message, { hint, exitCode: 2 });
}

/** Without relationships and metrics. */
function bareDataset(model: FlowModel, name: string, note: Note): FlowDataset {
  const at = `semantic_models.${model.name}`;
  const elements = [
    ...model.entities.map((entity) => ({ ...entity, type: undefined, kind: entity.type, grain: undefined })),
    ...model.dimensions.map((it) => ({ ...it, type: it.type, kind: undefined, grain: it.type_params?.time_granularity })),
  ];
  const fields = new Map<string, ForeignField>();
  const fieldOf = new Map<string, string>();
  for (const element of elements) {
    const expr = element.expr === undefined || element.expr === null ? element.name : String(element.expr);
    const isColumn = /^[A-Za-z_]\w*$/.test(expr);
    // An entity is a name for a column; a dimension is a name of its own.
    const own = element.kind !== undefined && isColumn ? expr : element.name;
    fieldOf.set(element.name, own);
    if (element.label !== undefined) note(`${at}.${element.name}`, 'label is not read');
    const known = fields.get(own);
    const field = without({
      name: own,
      type: known?.type ?? (element.type === 'time' ? timeType(element.grain) : undefined),
      expr: expr === own ? undefined : expr,
      description: known?.description ?? element.description,
    });
    fields.set(own, { name: own, ...field });
  }
  for (const key of Object.keys(model)) if (!readKeys.model.includes(key)) note(`${at}.${key}`, 'not read: ktx has no word for it');
  const columnsOf = (type: string) =>
    model.entities.filter((entity) => entity.type === type).flatMap((entity) => fieldOf.get(entity.name) ?? []);
  const [key] = columnsOf('primary');
  const unique = columnsOf('unique');
  const time = model.defaults?.agg_time_dimension;
  const others = without({
    ...tableOf(model, at, note),
    description: model.description,
    primary_key: key === undefined ? undefined : [key],
    unique_keys: unique.length === 0 ? undefined : unique.map((column) => [column]),
    default_time: time === undefined ? undefined : fieldOf.get(time),
    fields: fields.size === 0 ? undefined : [...fields.values()],
  });
  return { model, dataset: { dataset: name, ...others }, fieldOf };
}

function timeType(grain: string | undefined): ForeignField['type'] {
  return grain !== undefined && ['day', 'week', 'month', 'quarter', 'year'].includes(grain) ? 'date' : 'datetime';
}

/** Which schema a model of dbt is built in, only dbt knows. */
function tableOf(model: FlowModel, at: string, note: Note): { readonly source: string } {
  const relation = model['node_relation'];
  if (isEntry(relation) && typeof relation['relation_name'] === 'string') return { source: relation['relation_name'].replaceAll('`', '"') };
  const [, kind, ...names] = /^\s*(ref|source)\(\s*['"]([^'"]+)['"](?:\s*,\s*['"]([^'"]+)['"])?\s*\)\s*$/.exec(model.model ?? '') ?? [];
  const parts = names.filter((name) => name !== undefined);
  // The first name of a ref with two is a package.
  const source = kind === 'ref' ? parts.at(-1) : parts.join('.');
  note(at, `${model.model ?? 'no model'} is read as the table ${source || model.name}: correct source where its schema differs`);
  return { source: source || model.name };
}

/** dbt joins by the names of entities: a foreign one to the dataset where it is primary or unique. */
function relationshipsOf(
  { model, dataset, fieldOf }: FlowDataset,
  all: readonly FlowDataset[],
  note: Note,
): Pick<Dataset, 'relationships'> {
  const found = model.entities.flatMap((entity): ForeignRelationship[] => {
    const own = fieldOf.get(entity.name);
    if (entity.type === 'natural') note(`semantic_models.${model.name}.${entity.name}`, 'a natural entity is read as a field only');
    if (entity.type !== 'foreign' || own === undefined) return [];
    const isTarget = (other: FlowDataset) =>
      other.model.entities.some(({ name, type }) => name === entity.name && ['primary', 'unique'].includes(type));
    const [target, ...more] = all.filter((other) => other.dataset !== dataset && isTarget(other));
    const column = target?.fieldOf.get(entity.name);
    if (target === undefined || column === undefined || more.length > 0) {
      const why = more.length > 0 ? 'several semantic models' : 'no semantic model';
      note(`semantic_models.${model.name}.${entity.name}`, `no join: ${why} of these files has it as its key`);
      return [];
    }
    return [{ to: target.dataset.dataset, on: { [own]: column }, role: allowedDatasetName(entity.name) }];
  });
  return found.length === 0 ? {} : { relationships: found };
}
