import { isRecord } from '../../../lib/json.ts';
import type { Place } from '../../findings.ts';
import type { Item } from '../../source.ts';
import type {
  Column,
  Exposure,
  MetricFact,
  ProjectFacts,
  Relation,
  SemanticModelFact,
  Test,
} from '../facts.ts';
import { artifactNames } from './artifacts.ts';
import { isNo, listAt, type Mapping, textAt } from '../files/yaml-reader.ts';
import { readConstraints, testOf, type TestScope } from '../files/tests.ts';

/** A line of a reduced artifact. */
interface Line {
  readonly json: Mapping;
  readonly place: (key?: string, value?: unknown) => Place;
}

/** The items of the artifacts. */
export const artifactKey = (name: string): string => `artifacts/${name}.jsonl`;
export const isArtifactKey = (key: string): boolean =>
  artifactNames.some((name) => artifactKey(name) === key);

/** What the artifacts say, in the words of the files; undefined where there is no manifest and no semantic manifest. */
export function readArtifacts(items: readonly Item[]): ProjectFacts | undefined {
  const linesOf = (name: string) =>
    items.filter(({ key }) => key === artifactKey(name)).flatMap(readLines);
  const [manifest, catalog, semantic] = [
    linesOf('manifest'),
    linesOf('catalog'),
    linesOf('semantic_manifest'),
  ];
  if (manifest.length + semantic.length === 0) return undefined;
  const byType = Map.groupBy(manifest, ({ json }) => textAt(json, 'resource_type') ?? '');
  const ofTypes = (...types: readonly string[]) => types.flatMap((type) => byType.get(type) ?? []);
  const built = new Map(catalog.map(({ json }) => [textAt(json, 'unique_id') ?? '', json]));
  const tests = Map.groupBy(ofTypes('test').flatMap(testLine), ({ id }) => id);
  const relations = ofTypes('model', 'seed', 'snapshot', 'source').map((line) =>
    relationOf(line, { built, tests }),
  );
  const semanticLines = semantic.filter(({ json }) => 'semantic_model' in json || 'metric' in json);
  const idOf = relationNamed(relations);
  return {
    relations: new Map(relations.map((one) => [one.id, one])),
    semanticModels: (semanticLines.length > 0
      ? inner(semanticLines, 'semantic_model')
      : ofTypes('semantic_model')
    ).map((line) => semanticModel(line, idOf)),
    metrics: (semanticLines.length > 0 ? inner(semanticLines, 'metric') : ofTypes('metric')).map(
      ({ json: raw, place }): MetricFact => ({ raw, place: () => place('name', raw['name']) }),
    ),
    exposures: ofTypes('exposure').map(exposureOf),
    faults: [],
  };
}

function readLines({ key, body }: Item): Line[] {
  return body.split('\n').flatMap((text, index): Line[] => {
    const json: unknown = text === '' ? undefined : JSON.parse(text);
    if (!isRecord(json)) return [];
    const place = (name?: string, value?: unknown): Place => {
      const quote = name === undefined ? '' : `${JSON.stringify(name)}:${JSON.stringify(value)}`;
      return {
        key,
        line: index + 1,
        quote: quote !== '' && text.includes(quote) ? quote : undefined,
      };
    };
    return [{ json, place }];
  });
}

/** The lines' objects at a key. */
function inner(lines: readonly Line[], key: string): Line[] {
  return lines.flatMap(({ json, place }) =>
    isRecord(json[key]) ? [{ json: json[key], place }] : [],
  );
}

interface Context {
  /** Tables of catalog.json by unique id. */
  readonly built: ReadonlyMap<string, Mapping>;
  readonly tests: ReadonlyMap<string, readonly { readonly test: Test }[]>;
}

function relationOf({ json, place }: Line, { built, tests }: Context): Relation {
  const id = textAt(json, 'unique_id') ?? '';
  const kind =
    (['model', 'seed', 'snapshot', 'source'] as const).find(
      (one) => one === json['resource_type'],
    ) ?? 'model';
  const table = built.get(id) ?? json;
  const config = isRecord(json['config']) ? json['config'] : {};
  const schema = textAt(table, 'schema');
  const columns = isRecord(json['columns']) ? Object.values(json['columns']).filter(isRecord) : [];
  const name = textAt(json, 'name') ?? '';
  const said = (holder: Mapping) => {
    const text = textAt(holder, 'description')?.trim() ?? '';
    return text === '' ? undefined : { text, place: place('description', holder['description']) };
  };
  const scope = (column?: string): TestScope => ({
    column,
    idOf: () => undefined,
    place: () => place('name', column ?? name),
  });
  const owned = [
    ...readConstraints(json, scope()),
    ...columns.flatMap((one) => readConstraints(one, scope(textAt(one, 'name')))),
  ];
  return {
    id,
    kind,
    name: id.split('.').slice(2).join('.'),
    place: place('name', name),
    database: textAt(table, 'database'),
    schemas: schema === undefined ? [] : [schema],
    table:
      (built.has(id)
        ? textAt(table, 'name')
        : (textAt(json, 'identifier') ?? textAt(json, 'alias'))) ?? name,
    isExact: kind === 'source',
    isVirtual: config['materialized'] === 'ephemeral' || isNo(config['enabled']),
    description: said(json),
    tags: listAt(json, 'tags').map((tag) => ({
      name: String(tag),
      place: place('tags', json['tags']),
    })),
    columns: columns.map((one): Column => ({
      name: textAt(one, 'name') ?? '',
      description: said(one),
    })),
    tests: [...owned, ...(tests.get(id) ?? []).map(({ test }) => test)],
  };
}

/** A test node with the id of what it is attached to. */
function testLine({ json, place }: Line): { readonly id: string; readonly test: Test }[] {
  const metadata = isRecord(json['test_metadata']) ? json['test_metadata'] : {};
  const { name, namespace, kwargs } = metadata;
  const id = textAt(json, 'attached_node');
  const given = isRecord(kwargs) ? kwargs : {};
  const target = listAt(isRecord(json['depends_on']) ? json['depends_on'] : {}, 'nodes')
    .map(String)
    .find((node) => node !== id);
  const full = typeof namespace === 'string' ? `${namespace}.${String(name)}` : String(name);
  const column = textAt(json, 'column_name');
  const idOf = () => target ?? id;
  const test = testOf(
    full,
    { ...given, config: json['config'] },
    { column, idOf, place: place('test_metadata', json['test_metadata']) },
  );
  return id === undefined || test === undefined ? [] : [{ id, test }];
}

/** By the database name of a relation: schema and table, in any case. */
function relationNamed(
  relations: readonly Relation[],
): (schema: string | undefined, table: string) => string | undefined {
  const key = (schema: string | undefined, table: string) =>
    JSON.stringify([schema?.toLowerCase(), table.toLowerCase()]);
  const ids = new Map(
    relations.flatMap(({ schemas, table, id, kind }) =>
      kind === 'source' ? [] : [[key(schemas[0], table), id] as const],
    ),
  );
  return (schema, table) => ids.get(key(schema, table));
}

function semanticModel(
  { json, place }: Line,
  idOf: ReturnType<typeof relationNamed>,
): SemanticModelFact {
  const node = isRecord(json['node_relation']) ? json['node_relation'] : {};
  const depends = isRecord(json['depends_on'])
    ? listAt(json['depends_on'], 'nodes').map(String)
    : [];
  return {
    raw: json,
    model: idOf(textAt(node, 'schema_name'), textAt(node, 'alias') ?? '') ?? depends[0],
    place: (key = 'name') => place(key, json[key]),
    memberPlace: (_, name) => place('name', name),
  };
}

function exposureOf({ json, place }: Line): Exposure {
  const depends = isRecord(json['depends_on'])
    ? listAt(json['depends_on'], 'nodes').map(String)
    : [];
  const title = textAt(json, 'label') ?? textAt(json, 'name') ?? '';
  const description = textAt(json, 'description') ?? '';
  return {
    title,
    type: textAt(json, 'type') ?? 'exposure',
    description,
    place: place('name', json['name']),
    dependsOn: depends,
  };
}
