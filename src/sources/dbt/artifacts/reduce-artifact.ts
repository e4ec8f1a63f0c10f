import { z } from 'zod';
import { errorMessage } from '../../../lib/error.ts';
import { isRecord } from '../../../lib/json.ts';

/**
 * The artifacts of dbt that ktx reads: manifest v7 to v12, catalog v1, and the semantic manifest.
 */
export const artifactNames = ['manifest', 'catalog', 'semantic_manifest'] as const;
export type ArtifactName = (typeof artifactNames)[number];

/**
 * An artifact as lines of JSON, one for each resource, sorted. Holds what ktx reads and nothing
 * that changes by itself: no run ids, times, environment, statistics, compiled code or macros.
 * Throws with the reason if the text is not that artifact.
 */
export function reduceArtifact(name: ArtifactName, body: string): string {
  return reduceJson(name, parseArtifactJson(body))
    .map((line) => `${JSON.stringify(line)}\n`)
    .join('');
}

function parseArtifactJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch (error) {
    throw new Error(`not JSON: ${errorMessage(error)}`, { cause: error });
  }
}

function reduceJson(name: ArtifactName, json: unknown): readonly object[] {
  switch (name) {
    case 'manifest':
      return reduceManifest(json);
    case 'catalog':
      return reduceCatalog(json);
    case 'semantic_manifest':
      return reduceSemanticManifest(json);
  }
  return name satisfies never;
}

const resourcesSchema = z.record(z.string(), z.unknown());
const anyObject = z.looseObject({});

const manifestSchema = z.looseObject({
  metadata: z.looseObject({ dbt_schema_version: z.string().optional() }),
  nodes: resourcesSchema,
  sources: resourcesSchema.default({}),
  exposures: resourcesSchema.default({}),
  metrics: resourcesSchema.default({}),
  semantic_models: resourcesSchema.default({}),
  groups: resourcesSchema.default({}),
});

function reduceManifest(json: unknown): readonly object[] {
  const manifest = manifestSchema.parse(json);
  const { nodes, sources, exposures, metrics, groups } = manifest;
  const kinds = [nodes, sources, exposures, metrics, manifest.semantic_models, groups];
  const resources = kinds.flatMap((group) => Object.entries(group));
  const lines = resources
    .sort(byId)
    .flatMap(([id, resource]) => reduceResource(id, anyObject.parse(resource)) ?? []);
  return [{ manifest: manifest.metadata.dbt_schema_version ?? 'unknown' }, ...lines];
}

const catalogSchema = z.looseObject({
  nodes: resourcesSchema,
  sources: resourcesSchema.default({}),
});
const catalogTableSchema = z.looseObject({
  metadata: z.looseObject({
    database: z.string().nullish(),
    schema: z.string(),
    name: z.string(),
  }),
});

function reduceCatalog(json: unknown): readonly object[] {
  const { nodes, sources } = catalogSchema.parse(json);
  const tables = Object.entries({ ...nodes, ...sources }).sort(byId);
  const lines = tables.map(([id, table]) => {
    const { database, schema, name } = catalogTableSchema.parse(table).metadata;
    return { unique_id: id, database, schema, name };
  });
  return [{ catalog: 'v1' }, ...lines];
}

const semanticManifestSchema = z.looseObject({
  semantic_models: z.array(anyObject),
  metrics: z.array(anyObject),
  saved_queries: z.array(anyObject).nullish(),
});

function reduceSemanticManifest(json: unknown): readonly object[] {
  const manifest = semanticManifestSchema.parse(json);
  const { semantic_models: models, metrics, saved_queries: savedQueries } = manifest;
  return [
    { semantic_manifest: true },
    ...models.map((model) => ({ semantic_model: removeEmpty(model, unstableKeys) })),
    ...metrics.map((metric) => ({ metric: removeEmpty(metric, unstableKeys) })),
    ...(savedQueries ?? []).map((query) => ({ saved_query: removeEmpty(query, unstableKeys) })),
  ];
}

function byId([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}

const describedKeys = ['unique_id', 'resource_type', 'name', 'description', 'tags'];
const relationKeys = [
  ...describedKeys,
  'database',
  'schema',
  'alias',
  'identifier',
  'source_name',
  'version',
  'columns',
  'constraints',
  'config',
  'meta',
  'group',
];
const testKeys = [
  'unique_id',
  'resource_type',
  'name',
  'test_metadata',
  'column_name',
  'attached_node',
  'depends_on',
  'config',
];
const semanticModelKeys = [
  ...describedKeys,
  'label',
  'model',
  'node_relation',
  'defaults',
  'primary_entity',
  'entities',
  'dimensions',
  'measures',
  'depends_on',
];

/**
 * What is kept of a resource, by its type. Everything else is of no use here, large, or different
 * after each run.
 */
const keysByType: Readonly<Record<string, readonly string[]>> = {
  model: [...relationKeys, 'fqn', 'depends_on', 'time_spine'],
  seed: relationKeys,
  snapshot: relationKeys,
  source: relationKeys,
  test: testKeys,
  exposure: [...describedKeys, 'label', 'type', 'depends_on', 'config', 'owner', 'url', 'maturity'],
  metric: [
    ...describedKeys,
    'label',
    'type',
    'type_params',
    'filter',
    'time_granularity',
    'meta',
    'group',
  ],
  group: ['unique_id', 'resource_type', 'name', 'owner'],
  semantic_model: semanticModelKeys,
};

/** Keys of semantic models and metrics that change whenever a line of the file moves. */
const unstableKeys: ReadonlySet<string> = new Set(['metadata', 'config']);
const noKeys: ReadonlySet<string> = new Set();

/** Undefined for types of resources that ktx does not read. */
function reduceResource(
  id: string,
  { resource_type: type, ...resource }: Readonly<Record<string, unknown>>,
): object | undefined {
  const keys = keysByType[String(type)];
  if (keys === undefined) return undefined;
  const values = keys.flatMap((key) =>
    key in resource ? [[key, reduceValue(key, resource[key])] as const] : [],
  );
  const isSemantic = type === 'metric' || type === 'semantic_model';
  const reduced = removeEmpty(Object.fromEntries(values), isSemantic ? unstableKeys : noKeys);
  return { ...Object(reduced), unique_id: id, resource_type: type };
}

/** What is kept inside of some keys. Of `columns`, in each column. */
const innerKeys: Readonly<Record<string, readonly string[]>> = {
  config: ['enabled', 'materialized', 'where', 'meta', 'group'],
  columns: ['name', 'description', 'constraints', 'granularity'],
  depends_on: ['nodes'],
};

function reduceValue(key: string, value: unknown): unknown {
  const keys = innerKeys[key];
  if (keys === undefined || typeof value !== 'object' || value === null) return value;
  if (key !== 'columns') return pickKeys(value, keys);
  const columns = Object.entries(value).map(([name, column]) => [name, pickKeys(column, keys)]);
  return Object.fromEntries(columns);
}

function pickKeys(value: unknown, keys: readonly string[]): object {
  return Object.fromEntries(Object.entries(value ?? {}).filter(([key]) => keys.includes(key)));
}

/** The value without nulls, empty texts, and the given keys, at every level. */
function removeEmpty(value: unknown, withoutKeys: ReadonlySet<string>): unknown {
  if (Array.isArray(value)) return value.map((member) => removeEmpty(member, withoutKeys));
  if (!isRecord(value)) return value;
  const kept = Object.entries(value).filter(
    ([key, inner]) => inner !== null && inner !== '' && !withoutKeys.has(key),
  );
  return Object.fromEntries(kept.map(([key, inner]) => [key, removeEmpty(inner, withoutKeys)]));
}
