import { z } from 'zod';
import { subjects } from '../context/claims/claim.ts';
import { mapMetrics } from '../semantic/formats/metricflow/mapping/map-metrics.ts';
import {
  UnreadableMetric,
  type MetricSpec,
} from '../semantic/formats/metricflow/spec/metric-spec.ts';
import { readMetric } from '../semantic/formats/metricflow/spec/read-metric.ts';
import { entityJoins } from '../semantic/formats/metricflow/mapping/entity-joins.ts';
import {
  dimensionField,
  entityField,
  synonymsFor,
  type BoundModel,
} from '../semantic/formats/metricflow/mapping/bound-model.ts';
import {
  plainColumn,
  semanticModelSchema,
  type SemanticModelSpec,
} from '../semantic/formats/metricflow/spec/semantic-model-schema.ts';
import type { Findings, Place } from './findings.ts';
import type { KnownTable } from './tables.ts';

/** A mapping of a file, in MetricFlow's older form, and where it and its keys stand. */
export interface Stated {
  readonly raw: unknown;
  readonly place: (key?: string) => Place;
}

/** A semantic model: the table that it is about, or why there is none. */
export interface StatedModel extends Stated {
  readonly table: KnownTable | { readonly missing: string };
  /** Where one of its entities, dimensions or measures stands; its own place where that is not known. */
  readonly memberPlace: (list: 'entities' | 'dimensions' | 'measures', name: string) => Place;
}

interface KnownModel extends BoundModel {
  readonly table: KnownTable;
  readonly stated: StatedModel;
}

/** What a model or a column says of itself counts before what its semantic model says of it. */
const inPassing = 0.9;

/** Claims everything that semantic models and metrics say of tables, and names what does not fit. */
export function claimSemantics(
  models: readonly StatedModel[],
  metrics: readonly Stated[],
  findings: Findings,
): void {
  const known = models.flatMap((stated) => knownModel(stated, findings));
  for (const model of known) claimModel(model, findings);
  for (const together of Map.groupBy(known, ({ table }) => table.connection).values())
    claimJoins(together, findings);
  claimMetrics(known, metrics, findings);
}

function knownModel(stated: StatedModel, findings: Findings): KnownModel[] {
  const spec = attempt(stated, findings, () => semanticModelSchema.parse(stated.raw));
  if (spec === undefined) return [];
  const { table } = stated;
  if ('missing' in table) {
    findings.problem(stated.place(), `semantic model ${spec.name}: ${table.missing}`);
    return [];
  }
  return [{ spec, dataset: table.dataset, field: table.field, table, stated }];
}

function attempt<T>(stated: Stated, findings: Findings, read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    const name =
      stated.raw instanceof Object && 'name' in stated.raw ? `${String(stated.raw.name)}: ` : '';
    if (error instanceof z.ZodError) {
      const [issue] = error.issues;
      findings.problem(stated.place(), `${name}${issue?.path.join('.')}: ${issue?.message}`);
    } else if (error instanceof UnreadableMetric)
      findings.problem(stated.place(), `${name}${error.message}`);
    else throw error;
    return undefined;
  }
}

function claimModel(model: KnownModel, findings: Findings): void {
  const { spec, table, stated, dataset } = model;
  const { connection } = table;
  const about = subjects.dataset(connection, dataset);
  if (spec.description)
    findings.claim(stated.place('description'), {
      subject: about,
      kind: 'description',
      body: spec.description.trim(),
      confidence: inPassing,
    });
  if (spec.label)
    findings.claim(stated.place('label'), { subject: about, kind: 'synonyms', body: [spec.label] });
  const time = spec.dimensions.find(({ name }) => name === spec.defaults?.agg_time_dimension);
  const timeField = time && dimensionField(model, time);
  if (timeField)
    findings.claim(stated.place('defaults'), {
      subject: about,
      kind: 'default_time',
      body: timeField.name,
    });
  for (const entity of spec.entities) {
    const field = entityField(model, entity);
    const kind = ({ primary: 'primary_key', unique: 'unique_key' } as const)[entity.type];
    if (kind === undefined) continue;
    const place = stated.memberPlace('entities', entity.name);
    if (field !== undefined) findings.claim(place, { subject: about, kind, body: [field] });
    else
      findings.problem(
        place,
        `${spec.name}.${entity.name}: ${entity.expr ?? entity.name} is no column of ${dataset}, so it is no key`,
      );
  }
  for (const dimension of spec.dimensions) claimDimension(model, dimension, findings);
}

function claimDimension(
  model: KnownModel,
  dimension: SemanticModelSpec['dimensions'][number],
  findings: Findings,
): void {
  const { table, dataset, stated, spec } = model;
  const { name, label, description } = dimension;
  const place = stated.memberPlace('dimensions', name);
  const field = dimensionField(model, dimension);
  if (field === undefined) {
    const column = plainColumn(dimension);
    const why =
      column === undefined
        ? 'has an expression, and the column of that name stays what it is'
        : `is not in the table: ${column}`;
    return findings.problem(place, `${spec.name}.${name} ${why}`);
  }
  const subject = subjects.field(table.connection, dataset, field.name);
  if (field.kind === 'expression')
    findings.claim(place, { subject, kind: 'field', body: { expr: field.expr } });
  if (description)
    findings.claim(place, {
      subject,
      kind: 'description',
      body: description.trim(),
      confidence: inPassing,
    });
  const others = synonymsFor(field.name, [name, label]);
  if (others.length > 0) findings.claim(place, { subject, kind: 'synonyms', body: [...others] });
}

function claimJoins(models: readonly KnownModel[], findings: Findings): void {
  for (const { from, entity, own, targets, cardinality } of entityJoins(models)) {
    const place = from.stated.memberPlace('entities', entity.name);
    const [target, ...others] = targets;
    if (target === undefined) continue;
    if (others.length > 0) {
      const names = targets.map(({ model }) => model.dataset).join(' and ');
      findings.problem(
        place,
        `${from.spec.name}.${entity.name} is the key of ${names}: which one it refers to is not said`,
      );
      continue;
    }
    const subject = subjects.relationship(from.table.connection, from.dataset, [own]);
    findings.claim(place, {
      subject,
      kind: 'relationship',
      body: { to: target.model.dataset, on: { [own]: target.field }, cardinality },
    });
  }
}

function claimMetrics(
  models: readonly KnownModel[],
  metrics: readonly Stated[],
  findings: Findings,
): void {
  const read = metrics.flatMap((stated) => {
    const spec = attempt(stated, findings, () => readMetric(stated.raw));
    return spec === undefined ? [] : [{ stated, spec }];
  });
  const stated = new Map(read.map((one) => [one.spec.name, one]));
  const measurePlace = (name: string): Place | undefined =>
    models
      .find(({ spec }) => spec.measures.some((one) => one.name === name))
      ?.stated.memberPlace('measures', name);
  const placeOf = (name: string) => stated.get(name)?.stated.place() ?? measurePlace(name);
  const { metrics: mapped, misfits } = mapMetrics(
    models,
    read.map(({ spec }) => spec),
  );
  for (const { dataset, name, body, of, isHelper } of mapped) {
    const connection = models.find((model) => model.dataset === dataset)?.table.connection ?? '';
    const place = placeOf(of);
    if (place === undefined) continue;
    const subject = subjects.metric(connection, dataset, name);
    findings.claim(place, { subject, kind: 'metric', body });
    const spec = isHelper ? undefined : (stated.get(of)?.spec ?? measureSpec(models, of));
    if (spec?.description)
      findings.claim(place, { subject, kind: 'description', body: spec.description.trim() });
    const others = isHelper ? [] : synonymsFor(name, [of, spec?.label]);
    if (others.length > 0) findings.claim(place, { subject, kind: 'synonyms', body: [...others] });
  }
  for (const { name, reason } of misfits) {
    const place = placeOf(name);
    if (place !== undefined) findings.problem(place, `metric ${name}: ${reason}`);
  }
  for (const { spec, stated: where } of read) {
    if (spec.unsupportedOptions.length > 0)
      findings.problem(
        where.place(),
        `metric ${spec.name}: ktx has no equivalent for ${spec.unsupportedOptions.join(', ')}`,
      );
  }
}

function measureSpec(
  models: readonly KnownModel[],
  name: string,
): Pick<MetricSpec, 'description' | 'label'> | undefined {
  return models.flatMap(({ spec }) => spec.measures).find((one) => one.name === name);
}
