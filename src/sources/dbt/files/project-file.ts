import { isRecord } from '../../../lib/json.ts';
import { readLocatedYaml, type YamlLocation } from '../../../lib/yaml/located-yaml.ts';
import type { JinjaValue } from './jinja.ts';

export const projectFileName = 'dbt_project.yml';

/** What ktx reads of `dbt_project.yml`. */
export interface DbtProjectFile {
  readonly name: string;
  /** The name of the profile that connects to the warehouse. */
  readonly profile: string | undefined;
  readonly paths: Readonly<Record<'models' | 'seeds' | 'snapshots' | 'docs', readonly string[]>>;
  readonly targetPath: string;
  readonly vars: ReadonlyMap<string, JinjaValue>;
  /** The settings of each kind, nested by folder: `{shop: {marts: {+schema: x}}}`. */
  readonly settings: Readonly<Record<'models' | 'seeds' | 'snapshots' | 'sources', SettingsTree>>;
  /** Where a part of the settings stands. */
  readonly locate: (holder: unknown, key?: string) => YamlLocation;
  /** Set if the file is not YAML; then everything else is the default. */
  readonly broken?: { readonly line: number; readonly reason: string };
}

export type SettingsTree = Readonly<Record<string, unknown>>;

/** The settings of a relation, from wherever they are set. */
export interface RelationSettings {
  readonly alias?: unknown;
  readonly schema?: unknown;
  readonly database?: unknown;
  readonly enabled?: unknown;
  readonly materialized?: unknown;
}
const settingKeys = ['alias', 'schema', 'database', 'enabled', 'materialized'] as const;

export function parseProjectFile(text: string): DbtProjectFile {
  const yaml = readLocatedYaml(text);
  const top = 'broken' in yaml ? {} : settingsTree(yaml.documents[0]);
  const name = typeof top['name'] === 'string' ? top['name'] : '';
  return {
    name,
    profile: typeof top['profile'] === 'string' ? top['profile'] : undefined,
    paths: pathsOfProject(top),
    targetPath: typeof top['target-path'] === 'string' ? top['target-path'] : 'target',
    vars: projectVars(top['vars'], name),
    settings: {
      models: settingsTree(top['models']),
      seeds: settingsTree(top['seeds']),
      snapshots: settingsTree(top['snapshots']),
      sources: settingsTree(top['sources']),
    },
    ...('broken' in yaml
      ? { broken: yaml.broken, locate: () => ({ line: 1, text: '' }) }
      : { locate: yaml.locate }),
  };
}

/** `source-paths` and `data-paths` are what older projects call the paths of models and seeds. */
function pathsOfProject(top: SettingsTree): DbtProjectFile['paths'] {
  const pathsAt = (key: string, otherwise: readonly string[]): readonly string[] => {
    const paths = top[key];
    return Array.isArray(paths) ? paths.filter((path) => typeof path === 'string') : otherwise;
  };
  const models = pathsAt('model-paths', pathsAt('source-paths', ['models']));
  const seeds = pathsAt('seed-paths', pathsAt('data-paths', ['seeds']));
  const snapshots = pathsAt('snapshot-paths', ['snapshots']);
  const docs = pathsAt('docs-paths', [...models, ...seeds, ...snapshots]);
  return { models, seeds, snapshots, docs };
}

/** Variables under the name of the project win over global ones. */
function projectVars(vars: unknown, project: string): ReadonlyMap<string, JinjaValue> {
  const global = settingsTree(vars);
  const own = settingsTree(global[project]);
  return new Map(
    [...Object.entries(global), ...Object.entries(own)].filter(
      (entry): entry is [string, JinjaValue] => !isRecord(entry[1]),
    ),
  );
}

/** The parts of a tree that apply to a file in these folders. The deepest comes last and wins. */
export function levelsFor(
  settings: SettingsTree,
  folders: readonly string[],
): readonly SettingsTree[] {
  const levels = [settings];
  for (const folder of folders) {
    const next = levels.at(-1)?.[folder];
    if (!isRecord(next)) break;
    levels.push(next);
  }
  return levels;
}

/** The settings of one level, whose names may begin with `+`. */
export function settingsAt(level: SettingsTree): RelationSettings {
  const entries = settingKeys.map((key) => [key, level[`+${key}`] ?? level[key]] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined && !isRecord(value)));
}

/** The value as a mapping; an empty one for anything else. */
function settingsTree(value: unknown): SettingsTree {
  return isRecord(value) ? value : {};
}
