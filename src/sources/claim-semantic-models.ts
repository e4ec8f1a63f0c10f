import { isRecord } from '../lib/json.ts';
import { subjects } from '../context/claims/claim.ts';
import {
  dimensionField,
  entityField,
  synonymsFor,
  type BoundModel,
} from '../semantic/formats/metricflow/mapping/bound-model.ts';
import { entityJoins } from '../semantic/formats/metricflow/mapping/entity-joins.ts';
import type { MappedMetric } from '../semantic/formats/metricflow/mapping/metric-mapping.ts';
import { mapMetrics } from '../semantic/formats/metricflow/mapping/map-metrics.ts';
import type { MetricSpec } from '../semantic/formats/metricflow/spec/metric-spec.ts';
import { readMetric } from '../semantic/formats/metricflow/spec/read-metric.ts';
import {
  plainColumn,
  semanticModelSchema,
  type SemanticModelSpec,
} from '../semantic/formats/metricflow/spec/semantic-model-schema.ts';
import type { ClaimCollector, ItemPlace } from './claim-collector.ts';
import { claimSavedQueries, type SavedQuerySource } from './claim-saved-queries.ts';
import { claimTimeSpines, type TimeSpineSource } from './claim-time-spines.ts';
import { type MetricSource, parseOrReport } from './parse-or-report.ts';
import type { KnownTable } from './table-finder.ts';

/** A semantic model as a source has it. */
export interface SemanticModelSource extends MetricSource {
  /** The table that it describes, or why there is none. */
  readonly table: KnownTable | { readonly missing: string };
  /**
   * Where an entity, dimension or measure stands; the place of the model where that is not known.
   */
  readonly memberPlace: (list: MemberList, name: string) => ItemPlace;
}

export type MemberList = 'entities' | 'dimensions' | 'measures';

interface ParsedModel extends BoundModel {
  readonly table: KnownTable;
  readonly source: SemanticModelSource;
}

/** The description of the model or column itself wins over the one in its semantic model. */
const descriptionConfidence = 0.9;

/** What a source says about the semantics of tables. */
interface Semantics {
  readonly models: readonly SemanticModelSource[];
  readonly metrics: readonly MetricSource[];
  readonly savedQueries: readonly SavedQuerySource[];
  readonly timeSpines: readonly TimeSpineSource[];
}

/**
 * Claims what semantic models and metrics say about tables; what does not fit becomes a problem.
 * Returns the subjects of the metrics by their names.
 */
export function claimSemanticModels(
  { models, metrics, savedQueries, timeSpines }: Semantics,
  collector: ClaimCollector,
): ReadonlyMap<string, string> {
  const withSpine = claimTimeSpines(timeSpines, collector);
  const parsed = models.flatMap((source) => parseModel(source, collector));
  // A metric reads the spine of the warehouse that has its rows.
  const hasTimeSpine =
    parsed.length > 0 && parsed.every(({ table }) => withSpine.has(table.connection));
  for (const model of parsed) claimModel(model, collector);
  for (const ofWarehouse of Map.groupBy(parsed, ({ table }) => table.connection).values())
    claimJoins(ofWarehouse, collector);
  const { metricSubjects, mapped } = claimMetrics(parsed, { metrics, hasTimeSpine }, collector);
  const warehouseOf = (dataset: string) => tableOf(parsed, dataset)?.connection;
  claimSavedQueries(savedQueries, { models: parsed, metrics: mapped, warehouseOf }, collector);
  return metricSubjects;
}

function parseModel(source: SemanticModelSource, collector: ClaimCollector): ParsedModel[] {
  const spec = parseOrReport(source, collector, () => semanticModelSchema.parse(source.raw));
  if (spec === undefined) return [];
  const { table } = source;
  if ('missing' in table) {
    collector.addProblem(source.place(), `semantic model ${spec.name}: ${table.missing}`);
    return [];
  }
  return [{ spec, dataset: table.dataset, field: table.field, table, source }];
}

function claimModel(model: ParsedModel, collector: ClaimCollector): void {
  const { spec, table, source, dataset } = model;
  const subject = subjects.dataset(table.connection, dataset);
  if (spec.description)
    collector.addClaim(source.place('description'), {
      subject,
      kind: 'description',
      body: spec.description.trim(),
      confidence: descriptionConfidence,
    });
  if (spec.label)
    collector.addClaim(source.place('label'), { subject, kind: 'synonyms', body: [spec.label] });
  const time = spec.dimensions.find(({ name }) => name === spec.defaults?.agg_time_dimension);
  const timeField = time && dimensionField(model, time);
  if (timeField) {
    const body = timeField.name;
    collector.addClaim(source.place('defaults'), { subject, kind: 'default_time', body });
  }
  for (const entity of spec.entities) claimKey(model, entity, collector);
  for (const dimension of spec.dimensions) claimDimension(model, dimension, collector);
}

/** Entities of these types are keys of the dataset. */
const keyKinds: Readonly<Record<string, 'primary_key' | 'unique_key' | undefined>> = {
  primary: 'primary_key',
  unique: 'unique_key',
};

function claimKey(
  model: ParsedModel,
  entity: SemanticModelSpec['entities'][number],
  collector: ClaimCollector,
): void {
  const { spec, table, source, dataset } = model;
  const kind = keyKinds[entity.type];
  if (kind === undefined) return;
  const place = source.memberPlace('entities', entity.name);
  const field = entityField(model, entity);
  if (field === undefined) {
    const expression = entity.expr ?? entity.name;
    const reason = `${spec.name}.${entity.name}: ${expression} is no column of ${dataset}, so it is no key`;
    return collector.addProblem(place, reason);
  }
  const subject = subjects.dataset(table.connection, dataset);
  collector.addClaim(place, { subject, kind, body: [field] });
}

function claimDimension(
  model: ParsedModel,
  dimension: SemanticModelSpec['dimensions'][number],
  collector: ClaimCollector,
): void {
  const { table, dataset, source, spec } = model;
  const { name, label, description } = dimension;
  const place = source.memberPlace('dimensions', name);
  const field = dimensionField(model, dimension);
  if (field === undefined) {
    const column = plainColumn(dimension);
    const reason =
      column === undefined
        ? 'has an expression, and the column of that name stays what it is'
        : `is not in the table: ${column}`;
    return collector.addProblem(place, `${spec.name}.${name} ${reason}`);
  }
  const subject = subjects.field(table.connection, dataset, field.name);
  if (field.kind === 'expression')
    collector.addClaim(place, { subject, kind: 'field', body: { expr: field.expr } });
  if (description)
    collector.addClaim(place, {
      subject,
      kind: 'description',
      body: description.trim(),
      confidence: descriptionConfidence,
    });
  const synonyms = synonymsFor(field.name, [name, label]);
  if (synonyms.length > 0)
    collector.addClaim(place, { subject, kind: 'synonyms', body: [...synonyms] });
}

/** Claims the joins between models of one warehouse that share an entity. */
function claimJoins(models: readonly ParsedModel[], collector: ClaimCollector): void {
  for (const { from, entity, own, targets, cardinality } of entityJoins(models)) {
    const place = from.source.memberPlace('entities', entity.name);
    const [target, ...others] = targets;
    if (target === undefined) continue;
    if (others.length > 0) {
      const names = targets.map(({ model }) => model.dataset).join(' and ');
      const reason = `${from.spec.name}.${entity.name} is the key of ${names}: which one it refers to is not said`;
      collector.addProblem(place, reason);
      continue;
    }
    collector.addClaim(place, {
      subject: subjects.relationship(from.table.connection, from.dataset, [own]),
      kind: 'relationship',
      body: { to: target.model.dataset, on: { [own]: target.field }, cardinality },
    });
  }
}

interface ParsedMetric {
  readonly source: MetricSource;
  readonly spec: MetricSpec;
}

function claimMetrics(
  models: readonly ParsedModel[],
  { metrics, hasTimeSpine }: Pick<Semantics, 'metrics'> & { readonly hasTimeSpine: boolean },
  collector: ClaimCollector,
): {
  readonly metricSubjects: ReadonlyMap<string, string>;
  readonly mapped: readonly MappedMetric[];
} {
  const metricSubjects = new Map<string, string>();
  const parsed = metrics.flatMap((source): ParsedMetric[] => {
    const spec = parseOrReport(source, collector, () => readMetric(source.raw));
    return spec === undefined ? [] : [{ source, spec }];
  });
  const byName = new Map(parsed.map((metric) => [metric.spec.name, metric]));
  const placeOf = (name: string) => byName.get(name)?.source.place() ?? measurePlace(models, name);
  const {
    metrics: mapped,
    misfits,
    notes,
  } = mapMetrics(
    models,
    parsed.map(({ spec }) => spec),
    { hasTimeSpine },
  );
  for (const { dataset, name, body, of, isHelper } of mapped) {
    const place = placeOf(of);
    if (place === undefined) continue;
    const table = tableOf(models, dataset);
    const { connection = '' } = table ?? {};
    const subject = subjects.metric(connection, dataset, name);
    collector.addClaim(place, { subject, kind: 'metric', body });
    if (isHelper) continue;
    metricSubjects.set(of, subject);
    const { source, spec } = byName.get(of) ?? {};
    const { description, label } = spec ?? findMeasure(models, of) ?? {};
    const earlierName = nameBefore(table, { name, type: body.agg ?? spec?.shape.kind });
    const words = metaSynonyms(source?.raw);
    const synonyms = synonymsFor(name, [of, earlierName, label, ...words]);
    describeMetric(subject, { place, description, synonyms, owner: source?.owner }, collector);
  }
  const problems = [
    ...misfits,
    ...notes.map(({ name, note }): (typeof misfits)[number] => ({ name, reason: note })),
  ];
  for (const { name, reason } of problems) {
    const place = placeOf(name);
    if (place !== undefined) collector.addProblem(place, `metric ${name}: ${reason}`);
  }
  reportExtras(parsed, collector);
  leaveOutMeasures(models, metrics, collector);
  return { metricSubjects, mapped };
}

/** The keys of `meta` of a metric that name it otherwise. */
export const synonymKeys: readonly string[] = ['synonyms', 'aliases'];

/** Other names of a metric, which dbt has no key for: teams write them into `meta`. */
function metaSynonyms(raw: unknown): readonly string[] {
  const { meta, config } = isRecord(raw) ? raw : {};
  const metas = [meta, isRecord(config) ? config['meta'] : undefined];
  return metas
    .flatMap((own) => (isRecord(own) ? synonymKeys.map((key) => own[key]) : []))
    .flat()
    .flatMap((word) => (typeof word === 'string' ? word.split(',') : []))
    .map((word) => word.trim())
    .filter((word) => word !== '' && !word.includes('{{'));
}

interface MetricWords extends Pick<MetricSource, 'owner'> {
  readonly place: ItemPlace;
  readonly description: string | undefined;
  readonly synonyms: readonly string[];
}

/** Claims what a metric says beside its definition. */
function describeMetric(
  subject: string,
  { place, description, synonyms, owner }: MetricWords,
  collector: ClaimCollector,
): void {
  if (description)
    collector.addClaim(place, { subject, kind: 'description', body: description.trim() });
  if (synonyms.length > 0)
    collector.addClaim(place, { subject, kind: 'synonyms', body: [...synonyms] });
  if (owner === undefined) return;
  const { text: body, confidence } = owner;
  collector.addClaim(owner.place, { subject, kind: 'owner', body, confidence });
}

/** A measure that no metric uses can be asked by no name. */
function leaveOutMeasures(
  models: readonly ParsedModel[],
  metrics: readonly MetricSource[],
  collector: ClaimCollector,
): void {
  const used = new Set(
    metrics.flatMap(({ raw }) => (isRecord(raw) ? textsIn(raw['type_params']) : [])),
  );
  for (const { spec, source } of models)
    for (const { name, create_metric: isMetric } of spec.measures)
      if (isMetric !== true && !used.has(name))
        collector.leaveOut(source.memberPlace('measures', name), {
          what: 'measure without a metric',
          name: `${spec.name}.${name}`,
        });
}

/** Every text within the value. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  return isRecord(value) ? Object.values(value).flatMap(textsIn) : [];
}

function tableOf(models: readonly ParsedModel[], dataset: string): KnownTable | undefined {
  return models.find((model) => model.dataset === dataset)?.table;
}

/** Version 0.1.0 renamed a metric with the name of a column. */
function nameBefore(
  table: KnownTable | undefined,
  { name, type = '' }: { readonly name: string; readonly type: string | undefined },
): string | undefined {
  return table?.field(name) === undefined ? undefined : `${type}_${name}`;
}

function measurePlace(models: readonly ParsedModel[], name: string): ItemPlace | undefined {
  const owner = models.find(({ spec }) => spec.measures.some((measure) => measure.name === name));
  return owner?.source.memberPlace('measures', name);
}

function findMeasure(
  models: readonly ParsedModel[],
  name: string,
): Pick<MetricSpec, 'description' | 'label'> | undefined {
  return models.flatMap(({ spec }) => spec.measures).find((measure) => measure.name === name);
}

function reportExtras(metrics: readonly ParsedMetric[], collector: ClaimCollector): void {
  for (const { source, spec } of metrics) {
    if (spec.unsupportedOptions.length === 0) continue;
    const reason = `metric ${spec.name}: ktx has no equivalent for ${spec.unsupportedOptions.join(', ')}`;
    collector.addProblem(source.place(), reason);
  }
}
