import { YAMLException } from 'js-yaml';
import { z } from 'zod';
import { UserError } from '../../../lib/error.ts';
import { isRecord } from '../../../lib/json.ts';
import { checkSchema, problemText } from '../../../lib/schema-check.ts';
import { readYaml } from '../../../lib/yaml/read-yaml.ts';
import type { Dialect } from '../../../sql/dialect.ts';
import { type Dataset, datasetSchema } from '../../model/dataset.ts';
import type { MetricDefinition } from '../../model/metric-definition.ts';
import {
  type AddMisfit,
  type DatasetRelationship,
  type ImportedModel,
  type Misfit,
  type SavedQueryDraft,
  toDatasetName,
  uniqueNames,
} from '../imported-model.ts';
import { omitKeys } from '../patch.ts';
import { tryParseFragment } from '../sql-fragment.ts';
import { synonymsFor } from './mapping/bound-model.ts';
import { createDataset, type CreatedModel } from './create-dataset.ts';
import { entityJoins } from './mapping/entity-joins.ts';
import { toLegacyMetric } from './spec/legacy-metric.ts';
import { mapMetrics } from './mapping/map-metrics.ts';
import { mapSavedQuery, savedQuerySpecSchema } from './mapping/map-saved-query.ts';
import type { FindSqlFault, MappedMetric } from './mapping/metric-mapping.ts';
import { metricOfMeasure, type MetricSpec, UnreadableMetric } from './spec/metric-spec.ts';
import { readMetric } from './spec/read-metric.ts';
import { isTimeSpine, readTimeSpines } from './spec/read-time-spines.ts';
import { semanticModelSchema } from './spec/semantic-model-schema.ts';

const documentSchema = z.looseObject({
  semantic_models: z.array(z.unknown()).nullish(),
  metrics: z.array(z.unknown()).nullish(),
  models: z.array(z.unknown()).nullish(),
  saved_queries: z.array(z.unknown()).nullish(),
  project_configuration: z.unknown().optional(),
});

/**
 * Reads dbt's semantic models and metrics from all files together. Runs inside `withAnalyzer`.
 * Throws `import_invalid`.
 */
export function readMetricflow(texts: readonly string[], dialect: Dialect): ImportedModel {
  const misfits: Misfit[] = [];
  const addMisfit: AddMisfit = (at, message) => void misfits.push({ at, message });
  const documents = texts.map((text) => parseDocument(text, addMisfit));
  const specs = documents.flatMap(({ semantic_models }) =>
    readList('semantic_models', semantic_models, {
      addMisfit,
      read: (raw) => semanticModelSchema.parse(raw),
    }),
  );
  const spines = documents.flatMap((document) => readTimeSpines(document, addMisfit));
  const spineNames = spines.map(({ dataset }) => dataset);
  const names = uniqueNames([...spineNames, ...specs.map(({ name }) => toDatasetName(name))]).slice(
    spines.length,
  );
  const models = specs.map((spec, index) =>
    createDataset(spec, names[index] ?? spec.name, addMisfit),
  );
  const relationships = readRelationships(models, addMisfit);
  const metricSpecs = documents.flatMap(({ metrics }) =>
    readList('metrics', metrics, { addMisfit, read: readEitherForm }),
  );
  const hasTimeSpine = spines.length > 0;
  const { metrics, mapped } = readMetrics(models, metricSpecs, {
    dialect,
    hasTimeSpine,
    addMisfit,
  });
  const datasets = models.flatMap(({ created, dataset }): Dataset[] => {
    const lists = { relationships: relationships.get(dataset), metrics: metrics.get(dataset) };
    const { data, problems } = checkSchema(datasetSchema, omitKeys({ ...created, ...lists }));
    if (data !== undefined) return [data];
    addMisfit(`semantic_models.${dataset}`, `left out: ${problems.map(problemText).join('; ')}`);
    return [];
  });
  const queries = documents.flatMap(({ saved_queries }) =>
    readSavedQueries(saved_queries, { models, metrics: mapped }, addMisfit),
  );
  return { datasets: [...datasets, ...spines], queries, misfits };
}

/** Saved queries; one that ktx would answer differently is left out and reported. */
function readSavedQueries(
  items: readonly unknown[] | null | undefined,
  model: Parameters<typeof mapSavedQuery>[1],
  addMisfit: AddMisfit,
): readonly SavedQueryDraft[] {
  return readList('saved_queries', items, {
    addMisfit,
    read: (raw) => {
      const spec = savedQuerySpecSchema.parse(raw);
      const query = mapSavedQuery(spec, model);
      const at = `saved_queries.${spec.name}`;
      if ((spec.exports ?? []).length > 0)
        addMisfit(at, 'its exports are not read: ktx writes no tables');
      if (spec.query_params.order_by.length > 0)
        addMisfit(at, 'its order_by is not read: the rows come in the order of their dimensions');
      return query;
    },
  });
}

function parseDocument(text: string, addMisfit: AddMisfit): z.infer<typeof documentSchema> {
  const { data, problems } = checkSchema(documentSchema, parseYaml(text));
  if (data === undefined) throw invalidFile(problems.slice(0, 5).map(problemText).join('\n'));
  const readKeys = [
    'semantic_models',
    'metrics',
    'saved_queries',
    'version',
    'project_configuration',
  ];
  const isRead = (key: string) =>
    readKeys.includes(key) || (key === 'models' && data.models?.every(isTimeSpine) === true);
  for (const key of Object.keys(data))
    if (!isRead(key)) addMisfit(key, 'not read: ktx has no equivalent');
  return data;
}

function parseYaml(text: string): unknown {
  try {
    return readYaml(text);
  } catch (error) {
    if (error instanceof YAMLException) throw invalidFile(`This is not YAML: ${error.reason}`);
    throw error;
  }
}

function invalidFile(message: string): UserError {
  const hint = 'A file of dbt semantic models has the lists semantic_models and metrics.';
  return new UserError('import_invalid', message, { hint, exitCode: 2 });
}

/** Reads each item of a list; an item that cannot be read is left out and reported. */
function readList<Item>(
  listName: string,
  items: readonly unknown[] | null | undefined,
  { read, addMisfit }: { readonly read: (raw: unknown) => Item; readonly addMisfit: AddMisfit },
): readonly Item[] {
  return (items ?? []).flatMap((raw) => {
    try {
      return [read(raw)];
    } catch (error) {
      const at = `${listName}.${isRecord(raw) ? String(raw['name']) : '?'}`;
      if (error instanceof z.ZodError) {
        const [issue] = error.issues;
        addMisfit(at, `left out: ${issue?.path.join('.')}: ${issue?.message}`);
      } else if (error instanceof UnreadableMetric) addMisfit(at, `left out: ${error.message}`);
      else throw error;
      return [];
    }
  });
}

function readEitherForm(raw: unknown): MetricSpec {
  const isNewerForm = isRecord(raw) && !isRecord(raw['type_params']);
  return readMetric(isNewerForm ? toLegacyMetric(raw, undefined) : raw);
}

/** Relationships by dataset. Each also becomes a role of its model. */
function readRelationships(
  models: readonly CreatedModel[],
  addMisfit: AddMisfit,
): ReadonlyMap<string, readonly DatasetRelationship[]> {
  const byDataset = new Map<string, DatasetRelationship[]>();
  for (const { from, entity, own, targets, cardinality } of entityJoins(models)) {
    const at = `semantic_models.${from.spec.name}.${entity.name}`;
    if (targets.length === 0)
      addMisfit(at, 'no join: no semantic model in these files has it as its key');
    const time = from.created.default_time;
    const joined = targets.filter(({ model, validity }) => {
      if (validity === undefined || time !== undefined) return true;
      addMisfit(at, `no join to ${model.spec.name}: the time of its validity needs a time here`);
      return false;
    });
    for (const { model, field, validity } of joined) {
      const to = model.dataset;
      from.own.roles.set(entity.name, [...(from.own.roles.get(entity.name) ?? []), to]);
      const options = omitKeys({
        within: validity && time && { field: time, ...validity },
        role: entity.name === to ? undefined : entity.name,
        shared: joined.length > 1 || cardinality === 'one_to_one' ? (true as const) : undefined,
        cardinality: cardinality === 'one_to_one' && !validity ? cardinality : undefined,
      });
      byDataset.set(from.dataset, [
        ...(byDataset.get(from.dataset) ?? []),
        { to, on: { [own]: field }, ...options },
      ]);
      // The way back of a one-to-one join has the name of the entity too.
      if (options.cardinality === undefined) continue;
      model.own.roles.set(entity.name, [...(model.own.roles.get(entity.name) ?? []), from.dataset]);
    }
  }
  return byDataset;
}

/** Metrics by dataset. A measure that no simple metric uses becomes a hidden metric. */
function readMetrics(
  models: readonly CreatedModel[],
  specs: readonly MetricSpec[],
  {
    dialect,
    hasTimeSpine,
    addMisfit,
  }: {
    readonly dialect: Dialect;
    readonly hasTimeSpine: boolean;
    readonly addMisfit: AddMisfit;
  },
): {
  readonly metrics: ReadonlyMap<string, readonly MetricDefinition[]>;
  readonly mapped: readonly MappedMetric[];
} {
  const measures = unusedMeasures(models, specs);
  const measureNames = new Set(measures.map(({ name }) => name));
  const { metrics, misfits, notes } = mapMetrics(models, [...specs, ...measures], {
    findSqlFault: sqlFaultFinder(dialect),
    hasTimeSpine,
  });
  for (const { name, reason } of misfits)
    addMisfit(`${measureNames.has(name) ? 'measures' : 'metrics'}.${name}`, `left out: ${reason}`);
  for (const { name, note } of notes) addMisfit(`metrics.${name}`, note);
  for (const { name, unsupportedOptions } of specs)
    if (unsupportedOptions.length > 0)
      addMisfit(`metrics.${name}`, `ktx has no equivalent for ${unsupportedOptions.join(', ')}`);
  const specsByName = new Map(specs.map((spec) => [spec.name, spec]));
  const byDataset = new Map<string, MetricDefinition[]>();
  for (const { dataset, name, body, of, isHelper } of metrics) {
    const spec = isHelper ? undefined : specsByName.get(of);
    const synonyms = isHelper ? [] : synonymsFor(name, [of, spec?.label]);
    const description = omitKeys({
      description: spec?.description,
      synonyms: synonyms.length === 0 ? undefined : synonyms,
    });
    byDataset.set(dataset, [...(byDataset.get(dataset) ?? []), { name, ...body, ...description }]);
  }
  return { metrics: byDataset, mapped: metrics };
}

/** Hidden metrics for the measures that no simple metric uses. */
function unusedMeasures(
  models: readonly CreatedModel[],
  specs: readonly MetricSpec[],
): readonly MetricSpec[] {
  const used = new Set(
    specs.flatMap(({ shape }) => (shape.kind === 'simple' ? [shape.measure.name] : [])),
  );
  const measures = models
    .flatMap(({ spec }) => spec.measures)
    .filter(({ name, create_metric }) => create_metric !== true && !used.has(name));
  return measures.map(({ name }) => {
    const isTaken = specs.some((spec) => spec.name === name);
    return { ...metricOfMeasure(name), name: isTaken ? `${name}_measure` : name, isPrivate: true };
  });
}

function sqlFaultFinder(dialect: Dialect): FindSqlFault {
  return (sql, isKnown) => {
    const fragment = tryParseFragment(sql, dialect);
    if (fragment === undefined) return `ktx cannot use ${sql}`;
    const unknown = fragment.references.find(({ parts }) => !isKnown(parts.join('.')));
    return (
      unknown && `${unknown.parts.join('.')} in ${sql} is unknown or means something else here`
    );
  };
}
