import { z } from 'zod';
import { errorMessage } from '../../../lib/error.ts';

/** The artifacts of dbt that ktx reads: manifest v7 to v12, catalog v1, and the semantic manifest. */
export const artifactNames = ['manifest', 'catalog', 'semantic_manifest'] as const;
export type ArtifactName = (typeof artifactNames)[number];

const text = z.string();
const record = z.record(z.string(), z.unknown());
const anything = z.looseObject({});

const manifestSchema = z.looseObject({
  metadata: z.looseObject({ dbt_schema_version: text.optional() }),
  nodes: record,
  sources: record.optional(),
  exposures: record.optional(),
  metrics: record.optional(),
  semantic_models: record.optional(),
});
const catalogSchema = z.looseObject({ nodes: record, sources: record.optional() });
const semanticSchema = z.looseObject({
  semantic_models: z.array(anything),
  metrics: z.array(anything),
});

/** What of a resource is kept, by its type. Everything else is of no use here, large, or another one after each run. */
const common = ['unique_id', 'resource_type', 'name', 'description', 'tags'];
const relation = [
  ...common,
  'database',
  'schema',
  'alias',
  'identifier',
  'source_name',
  'version',
  'columns',
  'constraints',
  'config',
];
const kept: Readonly<Record<string, readonly string[]>> = {
  model: relation,
  seed: relation,
  snapshot: relation,
  source: relation,
  test: [
    'unique_id',
    'resource_type',
    'name',
    'test_metadata',
    'column_name',
    'attached_node',
    'depends_on',
    'config',
  ],
  exposure: [...common, 'label', 'type', 'depends_on', 'config'],
  metric: [...common, 'label', 'type', 'type_params', 'filter', 'time_granularity'],
  semantic_model: [
    ...common,
    'label',
    'model',
    'node_relation',
    'defaults',
    'primary_entity',
    'entities',
    'dimensions',
    'measures',
    'depends_on',
  ],
};
const keptInside: Readonly<Record<string, readonly string[]>> = {
  config: ['enabled', 'materialized', 'where'],
  columns: ['name', 'description', 'constraints'],
  depends_on: ['nodes'],
};
/** Of semantic models and metrics; the places in files shift with every line. */
const never = new Set(['metadata', 'config']);

/**
 * An artifact as lines of JSON, one a resource, sorted: what ktx reads of it and nothing that changes by itself (run ids,
 * times, environment, statistics, compiled code, macros). Throws with the reason where the text is none of that artifact.
 */
export function reduceArtifact(name: ArtifactName, body: string): string {
  return reduced(name, parse(body))
    .map((line) => `${JSON.stringify(line)}\n`)
    .join('');
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch (error) {
    throw new Error(`not JSON: ${errorMessage(error)}`, { cause: error });
  }
}

function reduced(name: ArtifactName, json: unknown): readonly object[] {
  switch (name) {
    case 'manifest': {
      const {
        metadata,
        nodes,
        sources = {},
        exposures = {},
        metrics = {},
        semantic_models = {},
      } = manifestSchema.parse(json);
      const resources = [nodes, sources, exposures, metrics, semantic_models].flatMap((group) =>
        Object.entries(group),
      );
      const lines = resources
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .flatMap(([id, resource]) => resourceLine(id, resource));
      return [{ manifest: metadata.dbt_schema_version ?? 'unknown' }, ...lines];
    }
    case 'catalog': {
      const { nodes, sources = {} } = catalogSchema.parse(json);
      const entries = Object.entries({ ...nodes, ...sources }).sort(([a], [b]) => (a < b ? -1 : 1));
      return [
        { catalog: 'v1' },
        ...entries.map(([id, table]) => ({ unique_id: id, ...catalogLine(table) })),
      ];
    }
    case 'semantic_manifest': {
      const { semantic_models, metrics } = semanticSchema.parse(json);
      const lines = [
        ...semantic_models.map((one) => ({ semantic_model: pruned(one, never) })),
        ...metrics.map((one) => ({ metric: pruned(one, never) })),
      ];
      return [{ semantic_manifest: true }, ...lines];
    }
  }
  return name satisfies never;
}

function resourceLine(id: string, resource: unknown): readonly object[] {
  const { resource_type: type, ...all } = anything.parse(resource);
  const keys = kept[String(type)];
  if (keys === undefined) return [];
  const line = Object.fromEntries(
    keys.flatMap((key) => (key in all ? [[key, inside(key, all[key])]] : [])),
  );
  const isSemantic = type === 'metric' || type === 'semantic_model';
  return [
    { ...Object(pruned(line, isSemantic ? never : new Set())), unique_id: id, resource_type: type },
  ];
}

function inside(key: string, value: unknown): unknown {
  const keys = keptInside[key];
  if (keys === undefined || typeof value !== 'object' || value === null) return value;
  const narrow = (one: unknown) =>
    Object.fromEntries(Object.entries(one ?? {}).filter(([own]) => keys.includes(own)));
  return key === 'columns'
    ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, narrow(one)]))
    : narrow(value);
}

const tableSchema = z.looseObject({
  metadata: z.looseObject({ database: text.nullish(), schema: text, name: text }),
});

function catalogLine(table: unknown): object {
  const { database, schema, name } = tableSchema.parse(table).metadata;
  return { database, schema, name };
}

/** Without nulls, empty texts and some keys. */
function pruned(value: unknown, without: ReadonlySet<string>): unknown {
  if (Array.isArray(value)) return value.map((one) => pruned(one, without));
  if (typeof value !== 'object' || value === null) return value;
  const pairs = Object.entries(value).filter(
    ([key, one]) => one !== null && one !== '' && !without.has(key),
  );
  return Object.fromEntries(pairs.map(([key, one]) => [key, pruned(one, without)]));
}
