import { isRecord } from '../../../lib/json.ts';
import type { Place } from '../../findings.ts';
import type { Item } from '../../source.ts';
import type { Column, Relation, RelationKind, Said, Test } from '../facts.ts';
import { levelsFor, projectFile, type Settings, settingsIn, tree } from './project-file.ts';
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
import { configIn } from './sql.ts';
import { readConstraints, readTests, type TestScope } from './tests.ts';

/** A model, seed or snapshot: its entry in a YAML file, its own file, or both. */
export interface Declared {
  readonly kind: Exclude<RelationKind, 'source'>;
  readonly name: string;
  readonly entry?: { readonly yaml: YamlItem; readonly mapping: Mapping } | undefined;
  readonly file?: Item | undefined;
}

/** The relations of an entry: one, or one for each version. */
export function declaredRelations(
  declared: Declared,
  reading: Reading,
  references: References,
): Relation[] {
  const { kind, name, entry, file } = declared;
  const { project, config } = reading;
  const mapping = entry?.mapping ?? {};
  const levels = levelsFor(project.settings[`${kind}s`], [
    project.name,
    ...foldersOf(declared, reading),
    name,
  ]);
  const own = file === undefined ? {} : configIn(file.body);
  const settings: Settings = Object.assign(
    {},
    ...[...levels, mapping, tree(mapping['config']), own].map(settingsIn),
  );
  const about = { name: `${kind} ${name}`, id: `${kind}.${project.name}.${name}` };
  const place = entry?.yaml.place(mapping) ?? { key: file?.key ?? '', line: 1 };
  const said = (key: keyof Settings) => settingText(settings[key], { reading, place, about, key });
  const [alias, custom, database] = [said('alias'), said('schema'), said('database')];
  const valueOf = (value: unknown) =>
    typeof value === 'string' ? resolved(reading, value).text : value;
  const isVirtual =
    valueOf(settings.materialized) === 'ephemeral' ||
    isNo(valueOf(settings.enabled)) ||
    alias === null;
  const wishes = [
    ...(config.target_schema !== undefined && custom ? [`${config.target_schema}_${custom}`] : []),
    ...(custom ? [custom] : []),
  ];
  const schemas =
    wishes.length === 0 && config.target_schema !== undefined && custom === undefined
      ? [config.target_schema]
      : wishes;
  const common = {
    kind,
    place,
    schemas,
    isVirtual,
    isExact: false,
    database: database ?? undefined,
    ...(entry === undefined
      ? { columns: [], tests: [] }
      : statements(entry.yaml, mapping, { reading, references, about })),
    tags: [
      ...levels.flatMap((level) =>
        ['+tags', 'tags'].flatMap((key) =>
          tagsAt(level, key, { key: projectFile, ...quoted(project.place(level, key)) }),
        ),
      ),
      ...(entry === undefined ? [] : tagsOf(entry.yaml, mapping)),
      ...(file === undefined ? [] : tagsAt(own, 'tags', { key: file.key, line: 1 })),
    ],
  };
  const versions = mappingsAt(mapping, 'versions').map((one) => `v${String(one['v'])}`);
  if (versions.length === 0) return [{ ...common, id: about.id, name, table: alias ?? name }];
  return versions.map((version) => {
    return {
      ...common,
      id: `${about.id}.${version}`,
      name: `${name}.${version}`,
      table: `${alias ?? name}_${version}`,
    };
  });
}

/** The tables of an entry of `sources:`. */
export function sourceRelations(
  yaml: YamlItem,
  source: Mapping,
  context: { reading: Reading; references: References },
): Relation[] {
  const name = textAt(source, 'name') ?? '';
  const { reading } = context;
  return mappingsAt(source, 'tables').flatMap((table): Relation[] => {
    const own = textAt(table, 'name');
    if (own === undefined) return [];
    const about = {
      name: `source ${name}.${own}`,
      id: `source.${reading.project.name}.${name}.${own}`,
    };
    const said = (holder: Mapping, key: string) =>
      settingText(holder[key], { reading, place: yaml.place(holder, key), about, key });
    const schema = source['schema'] === undefined ? name : said(source, 'schema');
    const database = said(source, 'database') ?? undefined;
    const identifier = said(table, 'identifier');
    const isOff = [source, table].some(
      (one) => isNo(one['enabled']) || isNo(tree(one['config'])['enabled']),
    );
    return [
      {
        id: about.id,
        kind: 'source',
        name: `${name}.${own}`,
        place: yaml.place(table),
        database,
        schemas: schema ? [schema] : [],
        table: identifier ?? own,
        isExact: true,
        isVirtual: isOff || schema === null || identifier === null,
        ...statements(yaml, table, { ...context, about }),
        tags: tagsOf(yaml, table),
      },
    ];
  });
}

/** The folders between a path of the project and the file. */
function foldersOf({ kind, entry, file }: Declared, { project }: Reading): string[] {
  const key = file?.key ?? entry?.yaml.item.key ?? '';
  const root = project.paths[`${kind}s`].find((one) => key.startsWith(`${one}/`));
  return root === undefined
    ? []
    : key
        .slice(root.length + 1)
        .split('/')
        .slice(0, -1);
}

/** For people `model orders`; and its unique id. */
interface About {
  readonly name: string;
  readonly id: string;
}

interface Setting {
  readonly reading: Reading;
  readonly place: Place;
  readonly about: About;
  readonly key: string;
}

/** Null where it is set to what code cannot resolve, which is named. */
function settingText(
  value: unknown,
  { reading, place, about, key }: Setting,
): string | null | undefined {
  if (typeof value !== 'string' || value === '') return undefined;
  const { text, unresolved } = resolved(reading, value);
  if (unresolved.length === 0) return text;
  reading.faults.push({
    place,
    reason: `${key} of ${about.name}: ${unresolved.join(', ')} cannot be resolved`,
    relation: about.id,
  });
  return null;
}

interface Context {
  readonly reading: Reading;
  readonly references: References;
  readonly about: About;
}

function statements(yaml: YamlItem, mapping: Mapping, { reading, references, about }: Context) {
  const columns = mappingsAt(mapping, 'columns').filter((one) => textAt(one, 'name') !== undefined);
  const scope = (column?: string): TestScope => ({
    column,
    idOf: references.idOf,
    place: yaml.place,
  });
  const tests: Test[] = [
    ...readConstraints(mapping, scope()),
    ...readTests(mapping, scope()),
    ...columns.flatMap((one) => {
      const own = scope(textAt(one, 'name'));
      return [...readConstraints(one, own), ...readTests(one, own)];
    }),
  ];
  return {
    description: descriptionOf(yaml, mapping, { reading, about }),
    columns: columns.map((one): Column => {
      const name = textAt(one, 'name') ?? '';
      return {
        name,
        description: descriptionOf(yaml, one, {
          reading,
          about: { ...about, name: `${about.name}.${name}` },
        }),
      };
    }),
    tests,
  };
}

function tagsOf(yaml: YamlItem, mapping: Mapping): Relation['tags'] {
  return [mapping, tree(mapping['config'])].flatMap((holder) =>
    tagsAt(holder, 'tags', yaml.place(holder, 'tags')),
  );
}

function tagsAt(holder: Mapping, key: string, place: Place): Relation['tags'] {
  const names = [holder[key]].flat().filter((one) => typeof one === 'string');
  return names.map((name) => ({ name, place }));
}

function quoted({ line, text }: { readonly line: number; readonly text: string }) {
  return { line, quote: text };
}

/** The text with its doc blocks; where it is just one of those, the place is the block's. */
function descriptionOf(
  yaml: YamlItem,
  mapping: Mapping,
  { reading, about }: Omit<Context, 'references'>,
): Said | undefined {
  const written = textAt(mapping, 'description')?.trim() ?? '';
  if (written === '') return undefined;
  const place = yaml.place(mapping, 'description');
  const { text, unresolved } = resolved(reading, written);
  if (unresolved.length > 0) {
    reading.faults.push({
      place,
      reason: `description of ${about.name}: ${unresolved.join(', ')} cannot be resolved`,
      relation: about.id,
    });
    return undefined;
  }
  const [, only] =
    /^\{\{-?\s*doc\(\s*['"](?:\w+['"]\s*,\s*['"])?(\w+)['"]\s*\)\s*-?\}\}$/.exec(written) ?? [];
  const block = only === undefined ? undefined : reading.docs.get(only);
  return { text: text.trim(), place: block?.place ?? place };
}

/** The first of several entries about one name counts; dbt refuses a second one. */
export function entriesOf(yaml: YamlItem, key: string): readonly Mapping[] {
  return isRecord(yaml.top)
    ? mappingsAt(yaml.top, key).filter((one) => textAt(one, 'name') !== undefined)
    : [];
}
