import type { DatasetLayer } from '../../../../semantic/model/dataset.ts';
import type { ItemPlace } from '../../../claim-collector.ts';
import type { DbtColumn, DbtDescription, DbtRelation, DbtTest } from '../../dbt-project.ts';
import { readTimeSpine } from '../../time-spine.ts';
import { readConstraints, readDataTests, type TestOwner } from '../data-tests.ts';
import type { Item } from '../../../source.ts';
import type { Declaration } from './declarations.ts';
import { jinjaTags, parseJinjaCall } from '../jinja.ts';
import { readInlineConfig } from './model-sql.ts';
import {
  ownProperties,
  readModelVersions,
  type RelationProperties,
  versionProperties,
  versionTable,
} from './model-versions.ts';
import {
  levelsFor,
  projectFileName,
  type RelationSettings,
  settingsAt,
  type SettingsTree,
} from '../project-file.ts';
import { namedLayer } from './layers.ts';
import { findOwner, type OwnedMapping } from '../owners.ts';
import { type ProjectFiles, resolveText } from '../project-files.ts';
import {
  isNo,
  mappingAt,
  mappingsAt,
  namedEntries,
  textAt,
  type YamlItem,
  type YamlMapping,
} from '../yaml-item.ts';

/**
 * The relations of a project as its files have them: the tables of its sources, then models, seeds
 * and snapshots.
 */
export function readRelations(files: ProjectFiles): DbtRelation[] {
  const sources = files.yamlItems.flatMap((yaml) =>
    namedEntries(yaml, 'sources').flatMap((source) => readSource(yaml, source, files)),
  );
  const declared = files.declarations.flatMap((declaration) => readDeclaration(declaration, files));
  return [...sources, ...declared];
}

/** The relation that is read, for messages and faults. */
interface RelationContext {
  readonly files: ProjectFiles;
  /** Like `model orders`. */
  readonly title: string;
  /** The unique id. */
  readonly id: string;
}

function readSource(yaml: YamlItem, source: YamlMapping, files: ProjectFiles): DbtRelation[] {
  return mappingsAt(source, 'tables').flatMap(
    (table) => readSourceTable(yaml, { source, table }, files) ?? [],
  );
}

function readSourceTable(
  yaml: YamlItem,
  { source, table }: { readonly source: YamlMapping; readonly table: YamlMapping },
  files: ProjectFiles,
): DbtRelation | undefined {
  const sourceName = textAt(source, 'name') ?? '';
  const tableName = textAt(table, 'name');
  if (tableName === undefined) return undefined;
  const name = `${sourceName}.${tableName}`;
  const id = `source.${files.project.name}.${name}`;
  const context: RelationContext = { files, title: `source ${name}`, id };
  const settingOf = (holder: YamlMapping, key: string) =>
    resolveSetting(holder[key], { key, place: yaml.placeOf(holder, key) }, context);
  const schema = source['schema'] === undefined ? sourceName : settingOf(source, 'schema');
  const database = settingOf(source, 'database') ?? undefined;
  const identifier = settingOf(table, 'identifier');
  const isDisabled = [source, table].some(
    (holder) => isNo(holder['enabled']) || isNo(mappingAt(holder, 'config')['enabled']),
  );
  return {
    id,
    kind: 'source',
    name,
    place: yaml.placeOf(table),
    database,
    schemas: schema ? [schema] : [],
    table: identifier ?? tableName,
    isExact: true,
    isVirtual: isDisabled || schema === null || identifier === null,
    isUnresolved: !isDisabled && (schema === null || identifier === null),
    isEphemeral: false,
    ...readProperties(yaml, ownProperties(table), context),
    tags: readTags(yaml, table),
    owner:
      findOwner(ownedMappings(yaml, [source, table]), files.groupOwners) ??
      files.codeOwner(yaml.item.key),
    layer: 'raw',
  };
}

/** One relation, or one for each version of a model. */
function readDeclaration(declaration: Declaration, files: ProjectFiles): DbtRelation[] {
  const { kind, name, entry, file, versionFiles } = declaration;
  const id = `${kind}.${files.project.name}.${name}`;
  const mapping = entry?.mapping ?? {};
  const versions = kind === 'model' ? readModelVersions(mapping) : [];
  if (versions.length === 0) {
    const properties = ownProperties(mapping);
    return [readRelation(declaration, { id, name, table: name, file, properties }, files)];
  }
  return versions.map((version) =>
    readRelation(
      declaration,
      {
        id: `${id}.${version.name}`,
        name: `${name}.${version.name}`,
        table: versionTable(name, version.name),
        file: versionFiles?.get(version.name),
        properties: versionProperties(mapping, version),
      },
      files,
    ),
  );
}

/** A declaration, or one version of it. */
interface DeclaredRelation {
  readonly id: string;
  readonly name: string;
  /** The table of a relation without an alias. */
  readonly table: string;
  readonly file: Item | undefined;
  readonly properties: RelationProperties;
}

function readRelation(
  declaration: Declaration,
  declared: DeclaredRelation,
  files: ProjectFiles,
): DbtRelation {
  const { kind, entry } = declaration;
  const { id, name, table, file } = declared;
  const yaml = entry?.yaml;
  const { holders } = declared.properties;
  const context: RelationContext = { files, title: `${kind} ${name}`, id };
  const inline = file === undefined ? {} : readInlineConfig(file.body);
  const levels = projectLevels(declaration, files);
  const written = holders.flatMap((holder) => [holder, mappingAt(holder, 'config')]);
  const settings: RelationSettings = Object.assign(
    {},
    ...[...levels, ...written, inline].map(settingsAt),
  );
  const ownKey = file?.key ?? yaml?.item.key ?? '';
  const firstLine = { key: ownKey, line: 1 };
  const place = yaml?.placeOf(holders.at(-1)) ?? firstLine;
  const { alias, ...location } = resolveLocation(settings, place, context);
  const properties = yaml && readProperties(yaml, declared.properties, context);
  const tags = [
    ...projectTags(levels, files),
    ...(yaml ? holders.flatMap((holder) => readTags(yaml, holder)) : []),
    ...tagsAt(inline, 'tags', firstLine),
  ];
  const owned: readonly OwnedMapping[] = [
    ...levels.map((mapping) => ({ mapping, placeOf: placesOfProject(files) })),
    ...(yaml ? ownedMappings(yaml, holders) : []),
    { mapping: inline, placeOf: () => firstLine },
  ];
  return {
    id,
    kind,
    name,
    place,
    ...location,
    table: alias ?? table,
    isExact: false,
    ...(properties ?? { columns: [], tests: [] }),
    tags,
    owner: findOwner(owned, files.groupOwners) ?? files.codeOwner(ownKey),
    layer: modelLayer(declaration, tags, files),
    timeSpine: declaredTimeSpine(declaration),
  };
}

function declaredTimeSpine({ kind, entry }: Declaration): DbtRelation['timeSpine'] {
  if (kind !== 'model' || entry === undefined) return undefined;
  return readTimeSpine(entry.mapping, entry.yaml.placeOf(entry.mapping, 'time_spine'));
}

/** The settings of `dbt_project.yml` that apply to the relation, by the folders that it is in. */
function projectLevels(declaration: Declaration, files: ProjectFiles): readonly SettingsTree[] {
  const { kind, name } = declaration;
  const { project } = files;
  const folders = foldersOf(declaration, files);
  return levelsFor(project.settings[`${kind}s`], [project.name, ...folders, name]);
}

/** The folders below the path of its kind. */
function foldersOf(
  { kind, entry, file }: Declaration,
  { project }: ProjectFiles,
): readonly string[] {
  const key = file?.key ?? entry?.yaml.item.key ?? '';
  const root = project.paths[`${kind}s`].find((path) => key.startsWith(`${path}/`));
  if (root === undefined) return [];
  return key
    .slice(root.length + 1)
    .split('/')
    .slice(0, -1);
}

function modelLayer(
  declaration: Declaration,
  tags: DbtRelation['tags'],
  files: ProjectFiles,
): DatasetLayer | undefined {
  const { kind, name } = declaration;
  if (kind !== 'model') return undefined;
  return namedLayer({
    name,
    folders: foldersOf(declaration, files),
    tags: tags.map((tag) => tag.name),
  });
}

/** The entries and their `config`, as they may name owners. */
function ownedMappings(yaml: YamlItem, holders: readonly YamlMapping[]): readonly OwnedMapping[] {
  return holders
    .flatMap((holder) => [holder, mappingAt(holder, 'config')])
    .map((mapping) => ({ mapping, placeOf: yaml.placeOf }));
}

function placesOfProject({ project }: ProjectFiles): OwnedMapping['placeOf'] {
  return (holder, key) => {
    const { line, text: quote } = project.locate(holder, key);
    return { key: projectFileName, line, quote };
  };
}

/** Where the settings put a relation. */
function resolveLocation(
  settings: RelationSettings,
  place: ItemPlace,
  context: RelationContext,
): Pick<DbtRelation, 'database' | 'schemas' | 'isVirtual' | 'isUnresolved' | 'isEphemeral'> & {
  alias: string | null | undefined;
} {
  const { files } = context;
  const settingOf = (key: keyof RelationSettings) =>
    resolveSetting(settings[key], { key, place }, context);
  const [alias, customSchema, database] = [
    settingOf('alias'),
    settingOf('schema'),
    settingOf('database'),
  ];
  const valueOf = (value: unknown) =>
    typeof value === 'string' ? resolveText(files, value).text : value;
  const isDisabled = isNo(valueOf(settings.enabled));
  const isEphemeral = valueOf(settings.materialized) === 'ephemeral' && !isDisabled;
  const isVirtual = isEphemeral || isDisabled || alias === null;
  const isUnresolved = !isEphemeral && !isDisabled && alias === null;
  const schemas = schemaCandidates(customSchema, files.config.target_schema);
  return { alias, database: database ?? undefined, schemas, isVirtual, isUnresolved, isEphemeral };
}

/**
 * dbt names a custom schema `<target>_<custom>`, unless the project has a macro of its own for
 * that.
 */
function schemaCandidates(
  custom: string | null | undefined,
  target: string | undefined,
): readonly string[] {
  if (custom) return target === undefined ? [custom] : [`${target}_${custom}`, custom];
  return target !== undefined && custom === undefined ? [target] : [];
}

/**
 * Undefined if it is not set. Null if it is set to what code cannot resolve, which becomes a fault.
 */
function resolveSetting(
  value: unknown,
  { key, place }: { readonly key: string; readonly place: ItemPlace },
  context: RelationContext,
): string | null | undefined {
  if (typeof value !== 'string' || value === '') return undefined;
  return resolveOrReport(value, { what: `${key} of ${context.title}`, place }, context) ?? null;
}

function resolveOrReport(
  written: string,
  { what, place }: { readonly what: string; readonly place: ItemPlace },
  { files, id }: RelationContext,
): string | undefined {
  const { text, unresolved } = resolveText(files, written);
  if (unresolved.length === 0) return text;
  const reason = `${what}: ${unresolved.join(', ')} cannot be resolved${variableHint(unresolved)}`;
  files.faults.push({ place, reason, relation: id });
  return undefined;
}

/** What to set where a variable has no value. */
function variableHint(unresolved: readonly string[]): string {
  const names = unresolved.flatMap((written) => {
    const call = parseJinjaCall(written);
    const [name] = call?.name === 'var' || call?.name === 'env_var' ? call.positional : [];
    return typeof name === 'string' ? [`vars.${name}`] : [];
  });
  return names.length === 0 ? '' : `; set ${names.join(' and ')} of the connection in ktx.yaml`;
}

/** The description, columns and tests of a YAML entry. */
function readProperties(
  yaml: YamlItem,
  { described, columns: listed, tested }: RelationProperties,
  context: RelationContext,
): Pick<DbtRelation, 'description' | 'columns' | 'tests'> {
  const columns = listed.flatMap((column) => {
    const name = textAt(column, 'name');
    return name === undefined ? [] : [{ name, column }];
  });
  const ownerOf = (column?: string): TestOwner => ({
    column,
    idOf: context.files.references.idOf,
    placeOf: yaml.placeOf,
  });
  const testsOf = (holder: YamlMapping, owner: TestOwner): DbtTest[] => [
    ...readConstraints(holder, owner),
    ...readDataTests(holder, owner),
  ];
  return {
    description: readDescription(yaml, described, context),
    columns: columns.map(({ name, column }): DbtColumn => {
      const title = `${context.title}.${name}`;
      return { name, description: readDescription(yaml, column, { ...context, title }) };
    }),
    tests: [
      ...testsOf(tested, ownerOf()),
      ...columns.flatMap(({ name, column }) => testsOf(column, ownerOf(name))),
    ],
  };
}

/**
 * The description with its doc blocks. If it is nothing but a doc block, its place is the block's.
 */
function readDescription(
  yaml: YamlItem,
  mapping: YamlMapping,
  context: RelationContext,
): DbtDescription | undefined {
  const { description } = mapping;
  // YAML reads `description: 2024` as a number.
  const isText = typeof description === 'string' || typeof description === 'number';
  const written = isText ? String(description).trim() : '';
  if (written === '') return undefined;
  const place = yaml.placeOf(mapping, 'description');
  const what = `description of ${context.title}`;
  const text = resolveOrReport(written, { what, place }, context);
  if (text === undefined) return undefined;
  return { text: text.trim(), place: docBlockPlace(written, context.files) ?? place };
}

function docBlockPlace(written: string, { docBlocks }: ProjectFiles): ItemPlace | undefined {
  const [tag] = jinjaTags(written);
  if (tag?.kind !== 'expression' || tag.start > 0 || tag.end < written.length) return undefined;
  const call = parseJinjaCall(tag.inside);
  const block = call?.name === 'doc' ? call.positional.at(-1) : undefined;
  return typeof block === 'string' ? docBlocks.get(block)?.place : undefined;
}

function projectTags(
  levels: readonly SettingsTree[],
  { project }: ProjectFiles,
): DbtRelation['tags'] {
  return levels.flatMap((level) =>
    ['+tags', 'tags'].flatMap((key) => {
      const { line, text: quote } = project.locate(level, key);
      return tagsAt(level, key, { key: projectFileName, line, quote });
    }),
  );
}

function readTags(yaml: YamlItem, mapping: YamlMapping): DbtRelation['tags'] {
  return [mapping, mappingAt(mapping, 'config')].flatMap((holder) =>
    tagsAt(holder, 'tags', yaml.placeOf(holder, 'tags')),
  );
}

/** Tags are a list or a single name. */
function tagsAt(holder: YamlMapping, key: string, place: ItemPlace): DbtRelation['tags'] {
  const names = [holder[key]].flat().filter((name) => typeof name === 'string');
  return names.map((name) => ({ name, place }));
}
