import { isRecord } from '../../../lib/json.ts';
import type { ItemPlace } from '../../claim-collector.ts';
import type { Item } from '../../source.ts';
import type {
  DbtDescription,
  DbtExposure,
  DbtMetric,
  DbtOwner,
  DbtProject,
  DbtRelation,
  DbtSavedQuery,
  DbtSemanticModel,
  DbtTest,
} from '../dbt-project.ts';
import { readTimeSpine } from '../time-spine.ts';
import { interpretTest, readConstraints, type TestOwner } from '../files/data-tests.ts';
import {
  isNo,
  listAt,
  mappingAt,
  mappingsAt,
  textAt,
  type YamlMapping,
} from '../files/yaml-item.ts';
import { namedLayer } from '../files/models/layers.ts';
import { placeInGraph } from '../files/models/model-graph.ts';
import { findOwner, groupOwner, type GroupOwners, ownerText } from '../files/owners.ts';
import { artifactNames, type ArtifactName } from './reduce-artifact.ts';

/** The key and path of an artifact's item. Not in `target/`, which projects tell git to ignore. */
export const artifactKey = (name: ArtifactName): string => `artifacts/${name}.jsonl`;
export const isArtifactKey = (key: string): boolean =>
  artifactNames.some((name) => artifactKey(name) === key);

/** The project as its artifacts have it; undefined without a manifest and a semantic manifest. */
export function readArtifacts(items: readonly Item[]): DbtProject | undefined {
  const linesOf = (name: ArtifactName) =>
    items.filter(({ key }) => key === artifactKey(name)).flatMap(readLines);
  const manifest = linesOf('manifest');
  const semanticManifest = linesOf('semantic_manifest');
  if (manifest.length + semanticManifest.length === 0) return undefined;
  const byType = Map.groupBy(manifest, ({ json }) => textAt(json, 'resource_type') ?? '');
  const resources = (...types: readonly string[]) =>
    types.flatMap((type) => byType.get(type) ?? []);
  const groupOwners = readGroupOwners(resources('group'));
  const context: ArtifactContext = {
    groupOwners,
    catalogTables: new Map(
      linesOf('catalog').map(({ json }) => [textAt(json, 'unique_id') ?? '', json]),
    ),
    tests: Map.groupBy(
      resources('test').flatMap((line) => readTest(line) ?? []),
      ({ relation }) => relation,
    ),
  };
  const relationLines = resources('model', 'seed', 'snapshot', 'source');
  const relations = relationLines.map((line) => readRelation(line, context));
  const semanticModels = innerLines(semanticManifest, 'semantic_model');
  const metrics = innerLines(semanticManifest, 'metric');
  const hasSemantics = semanticModels.length + metrics.length > 0;
  const findModel = modelFinder(relations);
  const asked = {
    semanticModels: (hasSemantics ? semanticModels : resources('semantic_model')).map((line) =>
      readSemanticModel(line, findModel),
    ),
    exposures: resources('exposure').map(readExposure),
  };
  const reads = () =>
    new Map(
      relationLines.map(
        ({ json }) => [textAt(json, 'unique_id') ?? '', dependencies(json)] as const,
      ),
    );
  const metricOwners = new Map(
    resources('metric').map((line) => [line.json['name'], ownerOfLine(line, groupOwners)] as const),
  );
  return {
    ...asked,
    relations: placeInGraph(
      new Map(relations.map((relation) => [relation.id, relation])),
      reads,
      asked,
    ),
    metrics: (hasSemantics ? metrics : resources('metric')).map((line) => ({
      ...readMetric(line),
      owner: metricOwners.get(line.json['name']),
    })),
    savedQueries: innerLines(semanticManifest, 'saved_query').map(readSavedQuery),
    faults: [],
    leftOut: [],
  };
}

/** A saved query of the semantic manifest, whose filters are wrapped. */
function readSavedQuery({ json, placeOf }: ArtifactLine): DbtSavedQuery {
  const params = mappingAt(json, 'query_params');
  const filters = mappingsAt(mappingAt(params, 'where'), 'where_filters');
  const where = filters.flatMap((filter) => textAt(filter, 'where_sql_template') ?? []);
  return { raw: { ...json, query_params: { ...params, where } }, place: () => placeOf() };
}

/** A line of a reduced artifact. */
interface ArtifactLine {
  readonly json: YamlMapping;
  /** With a key, the quote is that key and its value, if the line has them. */
  readonly placeOf: (key?: string, value?: unknown) => ItemPlace;
}

function readLines({ key, body }: Item): ArtifactLine[] {
  return body.split('\n').flatMap((text, index): ArtifactLine[] => {
    const json: unknown = text === '' ? undefined : JSON.parse(text);
    if (!isRecord(json)) return [];
    const placeOf = (name?: string, value?: unknown): ItemPlace => {
      const line = index + 1;
      if (name === undefined) return { key, line };
      const quote = `${JSON.stringify(name)}:${JSON.stringify(value)}`;
      return { key, line, quote: text.includes(quote) ? quote : undefined };
    };
    return [{ json, placeOf }];
  });
}

/** The mappings that lines have at a key. */
function innerLines(lines: readonly ArtifactLine[], key: string): ArtifactLine[] {
  return lines.flatMap(({ json, placeOf }) => {
    const inner = json[key];
    return isRecord(inner) ? [{ json: inner, placeOf }] : [];
  });
}

interface ArtifactContext {
  readonly groupOwners: GroupOwners;
  /** Tables of catalog.json by the unique id of their relation. */
  readonly catalogTables: ReadonlyMap<string, YamlMapping>;
  readonly tests: ReadonlyMap<string, readonly AttachedTest[]>;
}

interface AttachedTest {
  /** The unique id of the relation that is tested. */
  readonly relation: string;
  readonly test: DbtTest;
}

function readRelation({ json, placeOf }: ArtifactLine, context: ArtifactContext): DbtRelation {
  const id = textAt(json, 'unique_id') ?? '';
  const kind =
    (['model', 'seed', 'snapshot', 'source'] as const).find(
      (type) => type === json['resource_type'],
    ) ?? 'model';
  const name = textAt(json, 'name') ?? '';
  const catalogTable = context.catalogTables.get(id);
  const location = catalogTable ?? json;
  const schema = textAt(location, 'schema');
  const table = catalogTable
    ? textAt(catalogTable, 'name')
    : (textAt(json, 'identifier') ?? textAt(json, 'alias'));
  const config = mappingAt(json, 'config');
  const columns = Object.values(mappingAt(json, 'columns')).filter(isRecord);
  const ownerOf = (column?: string): TestOwner => ({
    column,
    idOf: () => undefined,
    placeOf: () => placeOf('name', column ?? name),
  });
  const constraints = [
    ...readConstraints(json, ownerOf()),
    ...columns.flatMap((column) => readConstraints(column, ownerOf(textAt(column, 'name')))),
  ];
  const tests = context.tests.get(id) ?? [];
  return {
    id,
    kind,
    name: id.split('.').slice(2).join('.'),
    place: placeOf('name', name),
    database: textAt(location, 'database'),
    schemas: schema === undefined ? [] : [schema],
    table: table ?? name,
    isExact: kind === 'source',
    isVirtual: config['materialized'] === 'ephemeral' || isNo(config['enabled']),
    isEphemeral: config['materialized'] === 'ephemeral' && !isNo(config['enabled']),
    description: readDescription(json, placeOf),
    tags: listAt(json, 'tags').map((tag) => ({
      name: String(tag),
      place: placeOf('tags', json['tags']),
    })),
    owner: ownerOfLine({ json, placeOf }, context.groupOwners),
    layer: layerOf(kind, json),
    columns: columns.map((column) => ({
      name: textAt(column, 'name') ?? '',
      description: readDescription(column, placeOf),
    })),
    tests: [...constraints, ...tests.map(({ test }) => test)],
    timeSpine: readTimeSpine({ ...json, columns }, placeOf('name', name)),
  };
}

function layerOf(kind: DbtRelation['kind'], json: YamlMapping): DbtRelation['layer'] {
  if (kind !== 'model') return kind === 'source' ? 'raw' : undefined;
  const folders = listAt(json, 'fqn').slice(1, -1).map(String);
  const tags = listAt(json, 'tags').map(String);
  return namedLayer({ name: textAt(json, 'name') ?? '', folders, tags });
}

function readGroupOwners(groups: readonly ArtifactLine[]): GroupOwners {
  return new Map(
    groups.flatMap(({ json, placeOf }) => {
      const owner = groupOwner(json, placeOf('owner', json['owner']));
      return owner === undefined ? [] : [[textAt(json, 'name') ?? '', owner] as const];
    }),
  );
}

function ownerOfLine({ json, placeOf }: ArtifactLine, groups: GroupOwners): DbtOwner | undefined {
  const owned = [json, mappingAt(json, 'config')].map((mapping) => ({
    mapping,
    placeOf: (holder: unknown, key = '') =>
      placeOf(key, isRecord(holder) ? holder[key] : undefined),
  }));
  return findOwner(owned, groups);
}

function readDescription(
  holder: YamlMapping,
  placeOf: ArtifactLine['placeOf'],
): DbtDescription | undefined {
  const text = textAt(holder, 'description')?.trim() ?? '';
  if (text === '') return undefined;
  return { text, place: placeOf('description', holder['description']) };
}

/** Undefined for tests that claim nothing. */
function readTest({ json, placeOf }: ArtifactLine): AttachedTest | undefined {
  const { name, namespace, kwargs } = mappingAt(json, 'test_metadata');
  const relation = textAt(json, 'attached_node');
  const target = dependencies(json).find((node) => node !== relation);
  const fullName = typeof namespace === 'string' ? `${namespace}.${String(name)}` : String(name);
  const options = { ...(isRecord(kwargs) ? kwargs : {}), config: json['config'] };
  const test = interpretTest(fullName, options, {
    column: textAt(json, 'column_name'),
    idOf: () => target ?? relation,
    place: placeOf('test_metadata', json['test_metadata']),
  });
  return relation === undefined || test === undefined ? undefined : { relation, test };
}

/** The unique ids that a resource depends on. */
function dependencies(json: YamlMapping): string[] {
  return listAt(mappingAt(json, 'depends_on'), 'nodes').map(String);
}

type FindModel = (schema: string | undefined, table: string) => string | undefined;

/** Finds the unique id of a relation by its schema and table, in any case. */
function modelFinder(relations: readonly DbtRelation[]): FindModel {
  const keyOf = (schema: string | undefined, table: string) =>
    JSON.stringify([schema?.toLowerCase(), table.toLowerCase()]);
  const models = relations.filter(({ kind }) => kind !== 'source');
  const ids = new Map(models.map(({ schemas, table, id }) => [keyOf(schemas[0], table), id]));
  return (schema, table) => ids.get(keyOf(schema, table));
}

function readSemanticModel(
  { json, placeOf }: ArtifactLine,
  findModel: FindModel,
): DbtSemanticModel {
  const node = mappingAt(json, 'node_relation');
  const model = findModel(textAt(node, 'schema_name'), textAt(node, 'alias') ?? '');
  return {
    raw: json,
    model: model ?? dependencies(json)[0],
    place: (key = 'name') => placeOf(key, json[key]),
    memberPlace: (_, name) => placeOf('name', name),
  };
}

function readMetric({ json, placeOf }: ArtifactLine): DbtMetric {
  return { raw: json, place: () => placeOf('name', json['name']) };
}

function readExposure({ json, placeOf }: ArtifactLine): DbtExposure {
  return {
    title: textAt(json, 'label') ?? textAt(json, 'name') ?? '',
    type: textAt(json, 'type') ?? 'exposure',
    description: textAt(json, 'description') ?? '',
    place: placeOf('name', json['name']),
    dependsOn: dependencies(json),
    owner: ofText(ownerText(json['owner']), (text) => ({
      text,
      place: placeOf('owner', json['owner']),
      confidence: 1,
    })),
    url: ofText(textAt(json, 'url'), (address) => ({ address, place: placeOf('url', address) })),
    maturity: ofText(textAt(json, 'maturity'), (level) => ({
      level,
      place: placeOf('maturity', level),
    })),
    metrics: dependencies(json).flatMap((id) =>
      id.startsWith('metric.') ? (id.split('.').at(-1) ?? []) : [],
    ),
  };
}

function ofText<Made>(text: string | undefined, make: (text: string) => Made): Made | undefined {
  return text === undefined ? undefined : make(text);
}
