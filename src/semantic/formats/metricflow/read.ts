import { load as readYaml, YAMLException } from 'js-yaml';
import { z } from 'zod';
import { UserError } from '../../../lib/error.ts';
import { check, sentence } from '../../../lib/schema-check.ts';
import type { Dialect } from '../../../sql/dialect.ts';
import { type Dataset, datasetSchema } from '../../model/dataset.ts';
import {
  allowedDatasetName,
  distinct,
  type ForeignField,
  type ForeignMetric,
  type ForeignModel,
  type ForeignRelationship,
  type Misfit,
} from '../foreign-model.ts';
import { isEntry, without } from '../patch.ts';
import { fragmentIn } from '../written-sql.ts';
import { joinsOf } from './joins.ts';
import {
  MetricFault,
  metricOfMeasure,
  type MetricSpec,
  olderForm,
  ownMeta,
  readMetric,
} from './metric.ts';
import { type FaultOf, mapMetrics } from './metrics.ts';
import { otherNames, type PlacedModel } from './placed-model.ts';
import {
  columnOf,
  namedTable,
  semanticModelSchema,
  type SemanticModelSpec,
} from './semantic-model.ts';

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
interface MadeModel extends PlacedModel {
  readonly made: Dataset;
  readonly own: {
    readonly fields: ReadonlyMap<string, string>;
    readonly roles: Map<string, string>;
  };
}

/** dbt's semantic models and metrics, of all files together. Runs inside `withAnalyzer`. Throws `import_invalid`. */
export function readMetricflow(texts: readonly string[], dialect: Dialect): ForeignModel {
  const misfits: Misfit[] = [];
  const note: Note = (at, message) => void misfits.push({ at, message });
  const documents = texts.map((text) => parsed(text, note));
  const specs = documents.flatMap(({ semantic_models: list }) =>
    (list ?? []).flatMap((raw) =>
      attempt('semantic_models', { raw, note }, () => semanticModelSchema.parse(raw)),
    ),
  );
  const names = distinct(specs.map(({ name }) => allowedDatasetName(name)));
  const models = specs.map((spec, index) => madeModel(spec, names[index] ?? spec.name, note));
  const relationships = relationshipsOf(models, note);
  const metrics = documents.flatMap(({ metrics: list }) =>
    (list ?? []).flatMap((raw) => attempt('metrics', { raw, note }, () => metricOf(raw))),
  );
  const byDataset = metricsOf(models, metrics, { dialect, note });
  const datasets = models.flatMap(({ made, dataset }): Dataset[] => {
    const lists = { relationships: relationships.get(dataset), metrics: byDataset.get(dataset) };
    const { data, problems } = check(datasetSchema, without({ ...made, ...lists }));
    if (data === undefined)
      note(`semantic_models.${dataset}`, `left out: ${problems.map(sentence).join('; ')}`);
    return data === undefined ? [] : [data];
  });
  return { datasets, misfits };
}

function parsed(text: string, note: Note): z.infer<typeof documentSchema> {
  const { data, problems } = check(documentSchema, fromYaml(text));
  if (data === undefined) throw invalid(problems.slice(0, 5).map(sentence).join('\n'));
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
    else if (error instanceof MetricFault) note(at, `left out: ${error.message}`);
    else throw error;
    return [];
  }
}

function metricOf(raw: unknown): MetricSpec {
  return readMetric(isEntry(raw) && !isEntry(raw['type_params']) ? olderForm(raw, undefined) : raw);
}

/** With its fields; an entity is a name for a column, a dimension is a name of its own. */
function madeModel(spec: SemanticModelSpec, dataset: string, note: Note): MadeModel {
  const at = `semantic_models.${spec.name}`;
  for (const key of Object.keys(spec))
    if (!readKeys.includes(key)) note(`${at}.${key}`, 'not read: ktx has no word for it');
  const [fields, names] = [new Map<string, ForeignField>(), new Map<string, string>()];
  const add = (
    element: SemanticModelSpec['entities'][number],
    name: string,
    type?: ForeignField['type'],
  ) => {
    names.set(element.name, name);
    const known = fields.get(name);
    const expr = element.expr?.trim() ?? element.name;
    const synonyms = otherNames(name, [...(known?.synonyms ?? []), element.label]);
    const rest = without({
      type: known?.type ?? type,
      expr: expr === name ? undefined : expr,
      description: known?.description ?? element.description,
      synonyms: synonyms.length === 0 ? undefined : synonyms,
    });
    fields.set(name, { name, ...rest });
  };
  for (const entity of spec.entities) add(entity, columnOf(entity) ?? entity.name);
  for (const dimension of spec.dimensions)
    add(dimension, dimension.name, dimension.type === 'time' ? timeType(dimension) : undefined);
  const namesOf = (type: string) =>
    spec.entities
      .filter((entity) => entity.type === type)
      .flatMap((entity) => names.get(entity.name) ?? []);
  const [key] = namesOf('primary');
  const unique = [...new Set(namesOf('unique'))].filter((name) => name !== key);
  const synonyms = otherNames(dataset, [spec.label]);
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
function fieldFor(fields: ReadonlyMap<string, ForeignField>, column: string): string | undefined {
  const standing = [...fields.values()].find(({ expr }) => expr === column);
  if (fields.get(column)?.expr === undefined) return column;
  return standing?.name;
}

function timeType({
  type_params: params,
}: SemanticModelSpec['dimensions'][number]): ForeignField['type'] {
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
  const { table = spec.name, schema, database, isGuess } = namedTable(spec);
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
): ReadonlyMap<string, readonly ForeignRelationship[]> {
  const found = new Map<string, ForeignRelationship[]>();
  for (const { spec } of models) {
    for (const { name } of spec.entities.filter(({ type }) => type === 'natural'))
      note(`semantic_models.${spec.name}.${name}`, 'a natural entity is read as a field only');
  }
  for (const { from, entity, own, targets, cardinality } of joinsOf(models)) {
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
): ReadonlyMap<string, readonly ForeignMetric[]> {
  const measures = measuresAlone(models, specs);
  const isMeasure = new Set(measures.map(({ name }) => name));
  const { metrics, misfits } = mapMetrics(models, [...specs, ...measures], faultIn(dialect));
  const described = new Map(specs.map((spec) => [spec.name, spec]));
  for (const { name, reason } of misfits)
    note(`${isMeasure.has(name) ? 'measures' : 'metrics'}.${name}`, `left out: ${reason}`);
  for (const { name, extras } of specs)
    if (extras.length > 0) note(`metrics.${name}`, `ktx has no word for ${extras.join(', ')}`);
  noteTimes(models, note);
  const found = new Map<string, ForeignMetric[]>();
  for (const { dataset, name, body, of, isHelper } of metrics) {
    const spec = isHelper ? undefined : described.get(of);
    const synonyms = otherNames(name, isHelper ? [] : [of, spec?.label]);
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
