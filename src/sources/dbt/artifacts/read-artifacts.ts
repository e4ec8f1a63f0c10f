import { isRecord } from '../../../lib/json.ts';
import type { ItemPlace } from '../../claim-collector.ts';
import type { Item } from '../../source.ts';
import type {
  DbtDescription,
  DbtExposure,
  DbtMetric,
  DbtProject,
  DbtRelation,
  DbtSemanticModel,
  DbtTest,
} from '../dbt-project.ts';
import { readTimeSpine } from '../time-spine.ts';
import { interpretTest, readConstraints, type TestOwner } from '../files/data-tests.ts';
import { isNo, listAt, mappingAt, textAt, type YamlMapping } from '../files/yaml-item.ts';
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
  const context: ArtifactContext = {
    catalogTables: new Map(
      linesOf('catalog').map(({ json }) => [textAt(json, 'unique_id') ?? '', json]),
    ),
    tests: Map.groupBy(
      resources('test').flatMap((line) => readTest(line) ?? []),
      ({ relation }) => relation,
    ),
  };
  const relations = resources('model', 'seed', 'snapshot', 'source').map((line) =>
    readRelation(line, context),
  );
  const semanticModels = innerLines(semanticManifest, 'semantic_model');
  const metrics = innerLines(semanticManifest, 'metric');
  const hasSemantics = semanticModels.length + metrics.length > 0;
  const findModel = modelFinder(relations);
  return {
    relations: new Map(relations.map((relation) => [relation.id, relation])),
    semanticModels: (hasSemantics ? semanticModels : resources('semantic_model')).map((line) =>
      readSemanticModel(line, findModel),
    ),
    metrics: (hasSemantics ? metrics : resources('metric')).map(readMetric),
    exposures: resources('exposure').map(readExposure),
    faults: [],
    leftOut: [],
  };
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
    description: readDescription(json, placeOf),
    tags: listAt(json, 'tags').map((tag) => ({
      name: String(tag),
      place: placeOf('tags', json['tags']),
    })),
    columns: columns.map((column) => ({
      name: textAt(column, 'name') ?? '',
      description: readDescription(column, placeOf),
    })),
    tests: [...constraints, ...tests.map(({ test }) => test)],
    timeSpine: readTimeSpine({ ...json, columns }, placeOf('name', name)),
  };
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
  };
}
