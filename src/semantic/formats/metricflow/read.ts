import { load as readYaml, YAMLException } from 'js-yaml';
import { z } from 'zod';
import { UserError } from '../../../lib/error.ts';
import { checkSchema, problemText } from '../../../lib/schema-check.ts';
import type { Dialect } from '../../../sql/dialect.ts';
import { type Dataset, datasetSchema, type MetricDefinition } from '../../model/dataset.ts';
import {
  toDatasetName,
  uniqueNames,
  type DatasetField,
  type ImportedModel,
  type DatasetRelationship,
  type Misfit,
} from '../imported-model.ts';
import { isEntry, without } from '../patch.ts';
import { fragmentIn } from '../sql-fragment.ts';
import { entityJoins } from './entity-joins.ts';
import {
  UnreadableMetric,
  metricOfMeasure,
  type MetricSpec,
  ownMeta,
  readMetric,
} from './read-metric.ts';
import { toLegacyMetric } from './legacy-metric.ts';
import { type FaultOf, mapMetrics } from './map-metrics.ts';
import { synonymsFor, type BoundModel } from './bound-model.ts';
import {
  plainColumn,
  tableOfModel,
  semanticModelSchema,
  type SemanticModelSpec,
} from './semantic-model-schema.ts';

const documentSchema = z.looseObject({
  semantic_models: z.array(z.unknown()).nullish(),
  metrics: z.array(z.unknown()).nullish(),
});

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

type Note = (at: string, message: string) => void;

/** A semantic model with the dataset that is made of it. */
interface MadeModel extends BoundModel {
  readonly made: Dataset;
  readonly own: {
    readonly fields: ReadonlyMap<string, string>;
    readonly roles: Map<string, string>;
  };
}

/** dbt's semantic models and metrics, of all files together. Runs inside `withAnalyzer`. Throws `import_invalid`. */
export function readMetricflow(texts: readonly string[], dialect: Dialect): ImportedModel {
  const misfits: Misfit[] = [];
  const note: Note = (at, message) => void misfits.push({ at, message });
  const documents = texts.map((text) => parsed(text, note));
  const specs = documents.flatMap(({ semantic_models: list }) =>
    (list ?? []).flatMap((raw) =>
      attempt('semantic_models', { raw, note }, () => semanticModelSchema.parse(raw)),
    ),
  );
  const names = uniqueNames(specs.map(({ name }) => toDatasetName(name)));
  const models = specs.map((spec, index) => madeModel(spec, names[index] ?? spec.name, note));
  const relationships = relationshipsOf(models, note);
  const metrics = documents.flatMap(({ metrics: list }) =>
    (list ?? []).flatMap((raw) => attempt('metrics', { raw, note }, () => metricOf(raw))),
  );
  const byDataset = metricsOf(models, metrics, { dialect, note });
  const datasets = models.flatMap(({ made, dataset }): Dataset[] => {
    const lists = { relationships: relationships.get(dataset), metrics: byDataset.get(dataset) };
    const { data, problems } = checkSchema(datasetSchema, without({ ...made, ...lists }));
    if (data === undefined)
      note(`semantic_models.${dataset}`, `left out: ${problems.map(problemText).join('; ')}`);
    return data === undefined ? [] : [data];
  });
  return { datasets, misfits };
}

function parsed(text: string, note: Note): z.infer<typeof documentSchema> {
  const { data, problems } = checkSchema(documentSchema, fromYaml(text));
  if (data === undefined) throw invalid(problems.slice(0, 5).map(problemText).join('\n'));
  const known = ['semantic_models', 'metrics', 'version', 'project_configuration'];
  for (const key of Object.keys(data))
    if (!known.includes(key)) note(key, 'not read: ktx has no word for it');
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

/** One, or none where it cannot be read, which is noted. */
function attempt<T>(
  list: string,
  { raw, note }: { readonly raw: unknown; readonly note: Note },
  read: () => T,
): readonly T[] {
  try {
    return [read()];
  } catch (error) {
    const at = `${list}.${isEntry(raw) ? String(raw['name']) : '?'}`;
    if (error instanceof z.ZodError)
      note(at, `left out: ${error.issues[0]?.path.join('.')}: ${error.issues[0]?.message}`);
    else if (error instanceof UnreadableMetric) note(at, `left out: ${error.message}`);
    else throw error;
    return [];
  }
}

function metricOf(raw: unknown): MetricSpec {
  return readMetric(
    isEntry(raw) && !isEntry(raw['type_params']) ? toLegacyMetric(raw, undefined) : raw,
  );
}

/** With its fields; an entity is a name for a column, a dimension is a name of its own. */
function madeModel(spec: SemanticModelSpec, dataset: string, note: Note): MadeModel {
  const at = `semantic_models.${spec.name}`;
  for (const key of Object.keys(spec))
    if (!readKeys.includes(key)) note(`${at}.${key}`, 'not read: ktx has no word for it');
  const [fields, names] = [new Map<string, DatasetField>(), new Map<string, string>()];
  const add = (
    element: SemanticModelSpec['entities'][number],
    name: string,
    type?: DatasetField['type'],
  ) => {
    names.set(element.name, name);
    const known = fields.get(name);
    const expr = element.expr?.trim() ?? element.name;
    const synonyms = synonymsFor(name, [...(known?.synonyms ?? []), element.label]);
    const rest = without({
      type: known?.type ?? type,
      expr: expr === name ? undefined : expr,
      description: known?.description ?? element.description,
      synonyms: synonyms.length === 0 ? undefined : synonyms,
    });
    fields.set(name, { name, ...rest });
  };
  for (const entity of spec.entities) add(entity, plainColumn(entity) ?? entity.name);
  for (const dimension of spec.dimensions)
    add(dimension, dimension.name, dimension.type === 'time' ? timeType(dimension) : undefined);
  const namesOf = (type: string) =>
    spec.entities
      .filter((entity) => entity.type === type)
      .flatMap((entity) => names.get(entity.name) ?? []);
  const [key] = namesOf('primary');
  const unique = [...new Set(namesOf('unique'))].filter((name) => name !== key);
  const synonyms = synonymsFor(dataset, [spec.label]);
  const rest = without({
    description: spec.description,
    synonyms: synonyms.length === 0 ? undefined : synonyms,
    primary_key: key === undefined ? undefined : [key],
    unique_keys: unique.length === 0 ? undefined : unique.map((column) => [column]),
    default_time: names.get(spec.defaults?.agg_time_dimension ?? ''),
    fields: fields.size === 0 ? undefined : [...fields.values()],
  });
  const made: Dataset = { dataset, source: sourceOf(spec, at, note), ...rest };
  return {
    spec,
    dataset,
    field: (column) => fieldFor(fields, column),
    made,
    own: { fields: names, roles: new Map() },
  };
}

/** A field of another expression has the name for itself: the column of that name is then out of reach. */
function fieldFor(fields: ReadonlyMap<string, DatasetField>, column: string): string | undefined {
  const standing = [...fields.values()].find(({ expr }) => expr === column);
  if (fields.get(column)?.expr === undefined) return column;
  return standing?.name;
}

function timeType({
  type_params: params,
}: SemanticModelSpec['dimensions'][number]): DatasetField['type'] {
  const grain: unknown = isEntry(params) ? params['time_granularity'] : undefined;
  return typeof grain === 'string' &&
    ['day', 'week', 'month', 'quarter', 'year'].includes(grain.toLowerCase())
    ? 'date'
    : 'datetime';
}

function sourceOf(spec: SemanticModelSpec, at: string, note: Note): string {
  const known = ownMeta(spec)['source'];
  if (typeof known === 'string') return known;
  const relation = spec.node_relation?.['relation_name'];
  if (typeof relation === 'string') return relation.replaceAll('`', '"');
  const { table = spec.name, schema, database, isGuess } = tableOfModel(spec);
  const source = [database, schema, table].filter((part) => part !== undefined).join('.');
  if (isGuess)
    note(
      at,
      `${spec.model} is read as the table ${source}: correct source where its schema differs`,
    );
  else if (spec.model === undefined && !spec.node_relation)
    note(at, `no model is read as the table ${source}`);
  return source;
}

/** By dataset; each is known to its model as a role. */
function relationshipsOf(
  models: readonly MadeModel[],
  note: Note,
): ReadonlyMap<string, readonly DatasetRelationship[]> {
  const found = new Map<string, DatasetRelationship[]>();
  for (const { spec } of models) {
    for (const { name } of spec.entities.filter(({ type }) => type === 'natural'))
      note(`semantic_models.${spec.name}.${name}`, 'a natural entity is read as a field only');
  }
  for (const { from, entity, own, targets, cardinality } of entityJoins(models)) {
    const [target, ...more] = targets;
    if (target === undefined || more.length > 0) {
      const why = more.length > 0 ? 'several semantic models' : 'no semantic model';
      note(
        `semantic_models.${from.spec.name}.${entity.name}`,
        `no join: ${why} of these files has it as its key`,
      );
      continue;
    }
    const to = target.model.dataset;
    from.own.roles.set(entity.name, to);
    const rest = without({
      role: entity.name === to ? undefined : entity.name,
      cardinality: cardinality === 'one_to_one' ? cardinality : undefined,
    });
    found.set(from.dataset, [
      ...(found.get(from.dataset) ?? []),
      { to, on: { [own]: target.field }, ...rest },
    ]);
  }
  return found;
}

/** By dataset; measures that no metric is are hidden ones. */
function metricsOf(
  models: readonly MadeModel[],
  specs: readonly MetricSpec[],
  { dialect, note }: { readonly dialect: Dialect; readonly note: Note },
): ReadonlyMap<string, readonly MetricDefinition[]> {
  const measures = measuresAlone(models, specs);
  const isMeasure = new Set(measures.map(({ name }) => name));
  const { metrics, misfits } = mapMetrics(models, [...specs, ...measures], faultIn(dialect));
  const described = new Map(specs.map((spec) => [spec.name, spec]));
  for (const { name, reason } of misfits)
    note(`${isMeasure.has(name) ? 'measures' : 'metrics'}.${name}`, `left out: ${reason}`);
  for (const { name, extras } of specs)
    if (extras.length > 0) note(`metrics.${name}`, `ktx has no word for ${extras.join(', ')}`);
  noteTimes(models, note);
  const found = new Map<string, MetricDefinition[]>();
  for (const { dataset, name, body, of, isHelper } of metrics) {
    const spec = isHelper ? undefined : described.get(of);
    const synonyms = synonymsFor(name, isHelper ? [] : [of, spec?.label]);
    const about = without({
      description: spec?.description,
      synonyms: synonyms.length === 0 ? undefined : synonyms,
    });
    found.set(dataset, [...(found.get(dataset) ?? []), { name, ...body, ...about }]);
  }
  return found;
}

/** Hidden metrics for the measures that no simple metric is of. */
function measuresAlone(
  models: readonly MadeModel[],
  specs: readonly MetricSpec[],
): readonly MetricSpec[] {
  const used = new Set(
    specs.flatMap(({ shape }) => (shape.kind === 'simple' ? [shape.measure.name] : [])),
  );
  const measures = models
    .flatMap(({ spec }) => spec.measures)
    .filter(({ name, create_metric }) => create_metric !== true && !used.has(name));
  return measures.map(({ name }) => {
    const taken = specs.some((spec) => spec.name === name);
    return { ...metricOfMeasure(name), name: taken ? `${name}_measure` : name, isPrivate: true };
  });
}

function noteTimes(models: readonly MadeModel[], note: Note): void {
  for (const { spec, made, own } of models) {
    for (const { name, agg_time_dimension: time } of spec.measures) {
      if (time === undefined || own.fields.get(time) === made.default_time) continue;
      note(
        `measures.${name}`,
        `metric_time means ${made.default_time ?? 'nothing'} for all of ${made.dataset}, not ${time}`,
      );
    }
  }
}

function faultIn(dialect: Dialect): FaultOf {
  return (sql, isKnown) => {
    const fragment = fragmentIn(sql, dialect);
    if (fragment === undefined) return `ktx cannot use ${sql}`;
    const unknown = fragment.references.find(({ parts }) => !isKnown(parts.join('.')));
    return unknown && `${unknown.parts.join('.')} in ${sql} means nothing here, or another thing`;
  };
}
