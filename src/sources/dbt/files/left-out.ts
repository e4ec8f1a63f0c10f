import { synonymKeys } from '../../claim-semantic-models.ts';
import { isRecord } from '../../../lib/json.ts';
import type { DbtLeftOut } from '../dbt-project.ts';
import { jinjaTags, parseJinjaCall } from './jinja.ts';
import { ownerKeys, ownerText } from './owners.ts';
import { projectFileName } from './project-file.ts';
import type { ProjectFiles } from './project-files.ts';
import { listAt, mappingAt, mappingsAt, type YamlItem, type YamlMapping } from './yaml-item.ts';

/** Lists at the top of a file whose entries ktx has no place for. */
const unreadLists: Readonly<Record<string, string>> = {
  unit_tests: 'unit test',
  macros: 'description of a macro',
  analyses: 'description of an analysis',
  data_tests: 'description of a test',
};

/** Keys of relations and columns that ktx has no place for. */
const unreadKeys: Readonly<Record<string, string>> = {
  access: 'access',
  freshness: 'freshness',
  contract: 'contract',
};

/** The statements of a project that ktx understands and has no place for. */
export function readLeftOut(files: ProjectFiles): DbtLeftOut[] {
  return [
    ...files.yamlItems.flatMap((yaml) => readLeftOutOfFile(yaml, files)),
    ...readUnusedDocBlocks(files),
    ...Object.values(files.project.settings).flatMap((tree) => readProjectSettings(tree, files)),
  ];
}

/** What `dbt_project.yml` says of folders. */
function readProjectSettings(tree: YamlMapping, files: ProjectFiles): DbtLeftOut[] {
  return Object.entries(tree).flatMap(([key, value]): readonly DbtLeftOut[] => {
    if (!isRecord(value)) return [];
    if (key !== '+meta' && key !== 'meta') return readProjectSettings(value, files);
    const unread = Object.keys(value).filter((name) => !isOwner(name, value[name]));
    if (unread.length === 0) return [];
    const { line } = files.project.locate(tree, key);
    return [{ place: { key: projectFileName, line }, what: 'meta', name: unread.join(', ') }];
  });
}

function readLeftOutOfFile(yaml: YamlItem, files: ProjectFiles): DbtLeftOut[] {
  const { top } = yaml;
  if (!isRecord(top)) return [];
  const ofLists = Object.entries(unreadLists).flatMap(([list, what]) =>
    listAt(top, list).map((entry, index) => ({
      place: yaml.placeOf(top[list], index),
      what,
      name: isRecord(entry) ? nameOf(entry) : undefined,
    })),
  );
  const sources = mappingsAt(top, 'sources');
  const relations = [
    ...['models', 'seeds', 'snapshots'].flatMap((list) => mappingsAt(top, list)),
    ...sources.flatMap((source) => mappingsAt(source, 'tables')),
  ];
  const versions = relations.flatMap((relation) => mappingsAt(relation, 'versions'));
  const columnsOf = (holder: YamlMapping) =>
    mappingsAt(holder, 'columns').map((column) => ({
      holder: column,
      name: `${nameOf(holder) ?? ''}.${nameOf(column) ?? ''}`,
      isColumn: true,
    }));
  const metrics = [
    ...mappingsAt(top, 'metrics'),
    ...mappingsAt(top, 'models').flatMap((model) => mappingsAt(model, 'metrics')),
  ];
  const exposures = mappingsAt(top, 'exposures');
  const holders: readonly SettingsHolder[] = [
    ...[...sources, ...relations, ...exposures].map((holder) => ({ holder, name: nameOf(holder) })),
    ...metrics.map((holder) => ({ holder, name: nameOf(holder), isMetric: true })),
    ...versions.map((holder) => ({ holder, name: `version ${String(holder['v'])}` })),
    ...[...relations, ...versions].flatMap(columnsOf),
  ];
  return [
    ...ofLists,
    ...holders.flatMap((holder) => readUnreadSettings(yaml, holder, files)),
    ...readGroups(yaml, top, files),
  ];
}

/** A mapping of a file that can have settings. */
interface SettingsHolder {
  readonly holder: YamlMapping;
  readonly name: string | undefined;
  readonly isColumn?: boolean;
  readonly isMetric?: boolean;
}

function readUnreadSettings(
  yaml: YamlItem,
  { holder, name, isColumn = false, isMetric = false }: SettingsHolder,
  { groupOwners }: ProjectFiles,
): DbtLeftOut[] {
  return [holder, mappingAt(holder, 'config')].flatMap((settings) => {
    const unread = Object.entries(unreadKeys).flatMap(([key, what]) =>
      isSaid(settings[key]) ? [{ place: yaml.placeOf(settings, key), what, name }] : [],
    );
    const { meta, group } = settings;
    const metaKeys = isRecord(meta)
      ? Object.keys(meta)
          .filter((key) => isColumn || !isOwner(key, meta[key]))
          .filter((key) => !isMetric || !synonymKeys.includes(key))
      : [];
    if (metaKeys.length > 0) {
      const said = `${name ?? ''}: ${metaKeys.join(', ')}`;
      unread.push({ place: yaml.placeOf(settings, 'meta'), what: 'meta', name: said });
    }
    if (typeof group === 'string' && !groupOwners.has(group)) {
      const said = `${name ?? ''}: ${group}`;
      unread.push({ place: yaml.placeOf(settings, 'group'), what: 'unknown group', name: said });
    }
    return unread;
  });
}

function isOwner(key: string, value: unknown): boolean {
  return ownerKeys.some((ownerKey) => ownerKey === key) && ownerText(value) !== undefined;
}

/** What groups say beside their owners. */
function readGroups(yaml: YamlItem, top: YamlMapping, { groupOwners }: ProjectFiles): DbtLeftOut[] {
  return mappingsAt(top, 'groups').flatMap((group) => {
    const name = nameOf(group);
    const place = yaml.placeOf(group, 'description');
    if (!groupOwners.has(name ?? '')) return [{ place, what: 'group without an owner', name }];
    return isSaid(group['description']) ? [{ place, what: 'description of a group', name }] : [];
  });
}

/** Texts between `{% docs name %}` and `{% enddocs %}` that no YAML file refers to. */
function readUnusedDocBlocks({ docBlocks, yamlItems }: ProjectFiles): DbtLeftOut[] {
  if (docBlocks.size === 0) return [];
  const calls = yamlItems.flatMap(({ item }) =>
    jinjaTags(item.body).flatMap(({ kind, inside }) =>
      kind === 'expression' ? (parseJinjaCall(inside) ?? []) : [],
    ),
  );
  const used = new Set(
    calls.flatMap(({ name, positional }) => (name === 'doc' ? String(positional.at(-1)) : [])),
  );
  return [...docBlocks].flatMap(([name, { place }]) =>
    used.has(name) ? [] : [{ place, what: 'doc block that nothing uses', name }],
  );
}

function nameOf({ name }: YamlMapping): string | undefined {
  return typeof name === 'string' ? name : undefined;
}

/** An empty mapping says nothing. */
function isSaid(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return false;
  return !isRecord(value) || Object.keys(value).length > 0;
}
