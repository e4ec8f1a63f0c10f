import { isList, isMapping } from '../../../context/merge/yaml-text.ts';
import { readLocatedYaml, type YamlLocation } from '../../../lib/located-yaml.ts';
import type { Known } from './jinja.ts';

export const projectFile = 'dbt_project.yml';

/** What of `dbt_project.yml` matters to ktx. */
export interface ProjectFile {
  readonly name: string;
  readonly paths: Readonly<Record<PathKind, readonly string[]>>;
  readonly targetPath: string;
  readonly vars: ReadonlyMap<string, Known>;
  /** Settings by kind, a tree of folders: `{shop: {marts: {+schema: x}}}`. */
  readonly settings: Readonly<Record<'models' | 'seeds' | 'snapshots' | 'sources', Tree>>;
  /** Where a part of the settings stands. */
  readonly place: (holder: unknown, key?: string) => YamlLocation;
  readonly broken?: { readonly line: number; readonly reason: string };
}
type PathKind = 'models' | 'seeds' | 'snapshots' | 'docs';
export type Tree = Readonly<Record<string, unknown>>;

/** Settings as they are after the last file that has a say. */
export interface Settings {
  readonly alias?: unknown;
  readonly schema?: unknown;
  readonly database?: unknown;
  readonly enabled?: unknown;
  readonly materialized?: unknown;
}
const settingKeys = ['alias', 'schema', 'database', 'enabled', 'materialized'] as const;

export function readProjectFile(text: string): ProjectFile {
  const read = readLocatedYaml(text);
  const top = 'broken' in read ? {} : tree(read.documents[0]);
  const name = typeof top['name'] === 'string' ? top['name'] : '';
  const pathsAt = (key: string, otherwise: readonly string[]) => {
    const given = top[key];
    return isList(given) ? given.filter((one) => typeof one === 'string') : otherwise;
  };
  const models = pathsAt('model-paths', pathsAt('source-paths', ['models']));
  const seeds = pathsAt('seed-paths', pathsAt('data-paths', ['seeds']));
  const snapshots = pathsAt('snapshot-paths', ['snapshots']);
  const { vars } = top;
  const all = isMapping(vars) ? vars : {};
  const own = isMapping(all[name]) ? all[name] : {};
  return {
    name,
    paths: {
      models,
      seeds,
      snapshots,
      docs: pathsAt('docs-paths', [...models, ...seeds, ...snapshots]),
    },
    targetPath: typeof top['target-path'] === 'string' ? top['target-path'] : 'target',
    vars: new Map(
      [...Object.entries(all), ...Object.entries(own)].filter(
        (pair): pair is [string, Known] => !isMapping(pair[1]),
      ),
    ),
    settings: {
      models: tree(top['models']),
      seeds: tree(top['seeds']),
      snapshots: tree(top['snapshots']),
      sources: tree(top['sources']),
    },
    ...('broken' in read
      ? { broken: read.broken, place: () => ({ line: 1, text: '' }) }
      : { place: read.locate }),
  };
}

/** The parts of a tree that are about a file in these folders, the deepest last: its settings count. */
export function levelsFor(settings: Tree, folders: readonly string[]): readonly Tree[] {
  const levels = [settings];
  for (const folder of folders) {
    const next = levels.at(-1)?.[folder];
    if (!isMapping(next)) break;
    levels.push(next);
  }
  return levels;
}

/** Settings may have a `+` before their name, as in `+schema`. */
export function settingsIn(level: Tree): Settings {
  const pairs = settingKeys.map((key) => [key, level[`+${key}`] ?? level[key]] as const);
  return Object.fromEntries(pairs.filter(([, value]) => value !== undefined && !isMapping(value)));
}

export function tree(value: unknown): Tree {
  return isMapping(value) ? value : {};
}
