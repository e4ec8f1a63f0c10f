import { isRecord } from '../../../lib/json.ts';
import { toLegacyMetric } from '../../../semantic/formats/metricflow/spec/legacy-metric.ts';
import type { ItemPlace } from '../../claim-collector.ts';
import type { DbtExposure, DbtMetric, DbtSavedQuery, DbtSemanticModel } from '../dbt-project.ts';
import { findOwner, ownerText } from './owners.ts';
import { type ProjectFiles, resolveText } from './project-files.ts';
import {
  isNo,
  mappingAt,
  mappingsAt,
  namedEntries,
  textAt,
  type YamlItem,
  type YamlMapping,
} from './yaml-item.ts';

/**
 * The semantic models of a file, in either form: entries of their own, and entries of models that
 * carry one.
 */
export function readDbtSemanticModels(yaml: YamlItem, files: ProjectFiles): DbtSemanticModel[] {
  return [
    ...namedEntries(yaml, 'semantic_models').map((entry) => readOwnEntry(yaml, entry, files)),
    ...namedEntries(yaml, 'models').flatMap((entry) => readModelEntry(yaml, entry, files) ?? []),
  ];
}

function readOwnEntry(yaml: YamlItem, entry: YamlMapping, files: ProjectFiles): DbtSemanticModel {
  return {
    raw: resolveTexts(entry, files),
    model: files.references.idOf(textAt(entry, 'model') ?? ''),
    place: (key) => yaml.placeOf(entry, key),
    memberPlace: (list, name) =>
      yaml.placeOf(mappingsAt(entry, list).find((member) => member['name'] === name) ?? entry),
  };
}

/** Where the newer form has what the older form has at these keys. */
const newerKeys: Readonly<Record<string, string>> = {
  defaults: 'agg_time_dimension',
  label: 'semantic_model',
};

/** The semantic model of a model's entry, whose columns are the entities and dimensions. */
function readModelEntry(
  yaml: YamlItem,
  entry: YamlMapping,
  files: ProjectFiles,
): DbtSemanticModel | undefined {
  const name = semanticModelName(entry);
  if (name === undefined) return undefined;
  const entities = readMembers(yaml, entry, { list: 'entities', key: 'entity' });
  const dimensions = readMembers(yaml, entry, { list: 'dimensions', key: 'dimension' });
  const places = new Map([...entities, ...dimensions].map(({ id, place }) => [id, place] as const));
  const raw = {
    name,
    primary_entity: entry['primary_entity'],
    defaults: { agg_time_dimension: entry['agg_time_dimension'] },
    entities: entities.map(({ member }) => member),
    dimensions: dimensions.map(({ member }) => member),
  };
  const placeOf = (key?: string) =>
    yaml.placeOf(entry, key === undefined ? 'semantic_model' : (newerKeys[key] ?? key));
  return {
    raw: resolveTexts(raw, files),
    model: files.references.idOf(`ref('${textAt(entry, 'name')}')`),
    place: placeOf,
    memberPlace: (list, member) => places.get(`${list}.${member}`) ?? placeOf(),
  };
}

/** Undefined if the model carries no semantic model, or has turned it off. */
function semanticModelName({ semantic_model: setting, name }: YamlMapping): string | undefined {
  if (setting === true) return String(name);
  if (!isRecord(setting) || isNo(setting['enabled'])) return undefined;
  return textAt(setting, 'name') ?? String(name);
}

interface Member {
  /** Like `entities.customer`. */
  readonly id: string;
  /** In the older form. */
  readonly member: YamlMapping;
  readonly place: ItemPlace;
}

/**
 * The entities or dimensions of a model's entry: those of its columns, then those that it derives.
 */
function readMembers(
  yaml: YamlItem,
  entry: YamlMapping,
  { list, key }: { readonly list: 'entities' | 'dimensions'; readonly key: string },
): Member[] {
  const ofColumns = mappingsAt(entry, 'columns').flatMap((column) => {
    const setting = column[key];
    const options = typeof setting === 'string' ? { type: setting } : setting;
    if (!isRecord(options)) return [];
    const member: YamlMapping = {
      type_params: { time_granularity: column['granularity'] },
      name: column['name'],
      ...options,
      expr: column['name'],
    };
    return [{ member, place: yaml.placeOf(column, key) }];
  });
  const derived = mappingsAt(mappingAt(entry, 'derived_semantics'), list).map((options) => {
    const typeParams = { time_granularity: options['granularity'] };
    const member: YamlMapping = { type_params: typeParams, ...options };
    return { member, place: yaml.placeOf(options) };
  });
  return [...ofColumns, ...derived].map(({ member, place }) => ({
    id: `${list}.${String(member['name'])}`,
    member,
    place,
  }));
}

/** The metrics of a file, in either form: at its top, and in the entries of its models. */
export function readDbtMetrics(yaml: YamlItem, files: ProjectFiles): DbtMetric[] {
  const readMetricEntry = (entry: YamlMapping, model?: string): DbtMetric => {
    const isOlder = isRecord(entry['type_params']);
    const described = describeEntry(yaml, entry, files);
    return isOlder
      ? described
      : { ...described, raw: resolveTexts(toLegacyMetric(entry, model), files) };
  };
  const atTop = namedEntries(yaml, 'metrics').filter(isEnabled);
  const ofModels = namedEntries(yaml, 'models').flatMap((model) =>
    mappingsAt(model, 'metrics')
      .filter(isEnabled)
      .map((entry) => readMetricEntry(entry, semanticModelName(model))),
  );
  return [...atTop.map((entry) => readMetricEntry(entry)), ...ofModels];
}

/** The saved queries of a file. */
export function readDbtSavedQueries(yaml: YamlItem, files: ProjectFiles): DbtSavedQuery[] {
  return namedEntries(yaml, 'saved_queries')
    .filter(isEnabled)
    .map((entry) => describeEntry(yaml, entry, files));
}

/** What an entry says, where, and who answers for it. */
function describeEntry(yaml: YamlItem, entry: YamlMapping, files: ProjectFiles): DbtMetric {
  const owned = [entry, mappingAt(entry, 'config')].map((mapping) => ({
    mapping,
    placeOf: yaml.placeOf,
  }));
  return {
    raw: resolveTexts(entry, files),
    place: (key) => yaml.placeOf(entry, key),
    owner: findOwner(owned, files.groupOwners),
  };
}

export function readDbtExposures(yaml: YamlItem, files: ProjectFiles): DbtExposure[] {
  return namedEntries(yaml, 'exposures')
    .filter(isEnabled)
    .map((entry): DbtExposure => {
      const description = textAt(entry, 'description')?.trim() ?? '';
      const dependsOn = entry['depends_on'];
      const address = textAt(entry, 'url')?.trim();
      const level = textAt(entry, 'maturity');
      const owner = ownerText(entry['owner']);
      const references = Array.isArray(dependsOn) ? dependsOn.map(String) : [];
      return {
        title: textAt(entry, 'label') ?? textAt(entry, 'name') ?? '',
        type: textAt(entry, 'type') ?? 'exposure',
        description: resolveText(files, description).text,
        place: yaml.placeOf(entry),
        dependsOn: references.flatMap((reference) => files.references.idOf(reference) ?? []),
        metrics: references.flatMap((reference) => metricName(reference) ?? []),
        owner:
          owner === undefined
            ? files.codeOwner(yaml.item.key)
            : { text: owner, place: yaml.placeOf(entry, 'owner'), confidence: 1 },
        url: address === undefined ? undefined : { address, place: yaml.placeOf(entry, 'url') },
        maturity:
          level === undefined ? undefined : { level, place: yaml.placeOf(entry, 'maturity') },
      };
    });
}

/** The name in `metric('revenue')`. */
function metricName(reference: string): string | undefined {
  return /^metric\(\s*['"](\w+)['"]\s*\)$/.exec(reference.trim())?.[1];
}

function isEnabled(entry: YamlMapping): boolean {
  return !isNo(entry['enabled']) && !isNo(mappingAt(entry, 'config')['enabled']);
}

/**
 * The mapping with resolved texts. What cannot be resolved stays: filters name dimensions in
 * braces.
 */
function resolveTexts(mapping: YamlMapping, files: ProjectFiles): YamlMapping {
  const resolveValue = (value: unknown): unknown => {
    if (typeof value === 'string') return resolveText(files, value).text;
    if (Array.isArray(value)) return value.map(resolveValue);
    return isRecord(value) ? resolveTexts(value, files) : value;
  };
  return Object.fromEntries(
    Object.entries(mapping).map(([key, value]) => [key, resolveValue(value)]),
  );
}
