import { isRecord } from '../../../lib/json.ts';
import { toLegacyMetric } from '../../../semantic/formats/metricflow/spec/legacy-metric.ts';
import type { Place } from '../../findings.ts';
import type { Exposure, MetricFact, SemanticModelFact } from '../facts.ts';
import {
  isNo,
  type Mapping,
  mappingsAt,
  type Reading,
  resolved,
  textAt,
  type YamlItem,
} from './yaml-reader.ts';
import type { References } from './references.ts';
import { entriesOf } from './relations.ts';

interface Context {
  readonly reading: Reading;
  readonly references: References;
}

/** Semantic models of both forms: entries of their own, and those that a model's entry carries. */
export function semanticModelsIn(yaml: YamlItem, context: Context): SemanticModelFact[] {
  const older = entriesOf(yaml, 'semantic_models').map((mapping): SemanticModelFact => {
    const members = (list: string, name: string) =>
      mappingsAt(mapping, list).find((one) => one['name'] === name);
    return {
      raw: deepResolved(mapping, context.reading),
      model: context.references.idOf(textAt(mapping, 'model') ?? ''),
      place: (key) => yaml.place(mapping, key),
      memberPlace: (list, name) => yaml.place(members(list, name) ?? mapping),
    };
  });
  return [
    ...older,
    ...entriesOf(yaml, 'models').flatMap((mapping) => newerModel(yaml, mapping, context) ?? []),
  ];
}

/** The semantic model that a model's entry turns on; its columns are the entities and dimensions. */
function newerModel(
  yaml: YamlItem,
  mapping: Mapping,
  { reading, references }: Context,
): SemanticModelFact | undefined {
  const name = semanticName(mapping);
  if (name === undefined) return undefined;
  const places = new Map<string, Place>();
  const more = isRecord(mapping['derived_semantics']) ? mapping['derived_semantics'] : {};
  const columns = mappingsAt(mapping, 'columns');
  const membersOf = (list: 'entities' | 'dimensions', key: 'entity' | 'dimension') => {
    const own = columns.flatMap((column) => {
      const stated = column[key];
      const given =
        typeof stated === 'string' ? { type: stated } : isRecord(stated) ? stated : undefined;
      if (given === undefined) return [];
      const member = {
        type_params: { time_granularity: column['granularity'] },
        name: column['name'],
        ...given,
        expr: column['name'],
      };
      return [{ member, place: yaml.place(column, key) }];
    });
    const derived = mappingsAt(more, list).map((member) => {
      const params = { time_granularity: member['granularity'] };
      return { member: { type_params: params, ...member }, place: yaml.place(member) };
    });
    const all = [...own, ...derived];
    for (const { member, place } of all)
      places.set(`${list}.${String(Reflect.get(member, 'name'))}`, place);
    return all.map(({ member }) => member);
  };
  const raw = {
    name,
    primary_entity: mapping['primary_entity'],
    defaults: { agg_time_dimension: mapping['agg_time_dimension'] },
    entities: membersOf('entities', 'entity'),
    dimensions: membersOf('dimensions', 'dimension'),
  };
  const keys: Readonly<Record<string, string>> = {
    defaults: 'agg_time_dimension',
    label: 'semantic_model',
  };
  return {
    raw: deepResolved(raw, reading),
    model: references.idOf(`ref('${textAt(mapping, 'name')}')`),
    place: (key) => yaml.place(mapping, key === undefined ? 'semantic_model' : (keys[key] ?? key)),
    memberPlace: (list, member) =>
      places.get(`${list}.${member}`) ?? yaml.place(mapping, 'semantic_model'),
  };
}

/** Undefined where the model has none, or it is turned off. */
function semanticName(mapping: Mapping): string | undefined {
  const { semantic_model: stated, name } = mapping;
  if (stated === true) return String(name);
  if (!isRecord(stated) || isNo(stated['enabled'])) return undefined;
  return textAt(stated, 'name') ?? String(name);
}

/** The metrics of a file: those at its top, in either form, and those of its models. */
export function metricsIn(yaml: YamlItem, { reading }: Context): MetricFact[] {
  const fact = (mapping: Mapping, model?: string): MetricFact => {
    const isOlder = isRecord(mapping['type_params']);
    return {
      raw: deepResolved(isOlder ? mapping : toLegacyMetric(mapping, model), reading),
      place: (key) => yaml.place(mapping, key),
    };
  };
  const top = entriesOf(yaml, 'metrics').filter(isOn);
  const models = entriesOf(yaml, 'models');
  const own = models.flatMap((model) =>
    mappingsAt(model, 'metrics')
      .filter(isOn)
      .map((one) => fact(one, semanticName(model))),
  );
  return [...top.map((one) => fact(one)), ...own];
}

export function exposuresIn(yaml: YamlItem, { reading, references }: Context): Exposure[] {
  return entriesOf(yaml, 'exposures')
    .filter(isOn)
    .map((mapping): Exposure => {
      const { text: description } = resolved(reading, textAt(mapping, 'description')?.trim() ?? '');
      const depends = mapping['depends_on'];
      const ids = Array.isArray(depends)
        ? depends.flatMap((one) => references.idOf(String(one)) ?? [])
        : [];
      const title = textAt(mapping, 'label') ?? textAt(mapping, 'name') ?? '';
      return {
        title,
        type: textAt(mapping, 'type') ?? 'exposure',
        description,
        place: yaml.place(mapping),
        dependsOn: ids,
      };
    });
}

function isOn(mapping: Mapping): boolean {
  const config = isRecord(mapping['config']) ? mapping['config'] : {};
  return !isNo(mapping['enabled']) && !isNo(config['enabled']);
}

/** With the vars in its texts; what else is in braces (filters name dimensions so) stays. */
function deepResolved(mapping: Mapping, reading: Reading): Mapping {
  const resolve = (value: unknown): unknown => {
    if (typeof value === 'string') return resolved(reading, value).text;
    if (Array.isArray(value)) return value.map(resolve);
    return isRecord(value)
      ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, resolve(inner)]))
      : value;
  };
  return Object.fromEntries(Object.entries(mapping).map(([key, value]) => [key, resolve(value)]));
}
