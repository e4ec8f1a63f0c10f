import { basename } from 'node:path/posix';
import type { Item } from '../../../source.ts';
import type { DbtFault, RelationKind } from '../../dbt-project.ts';
import { jinjaTags } from '../jinja.ts';
import type { DbtProjectFile } from '../project-file.ts';
import type { References } from '../references.ts';
import { latestVersionName, readModelVersions, versionFileNames } from './model-versions.ts';
import { mappingsAt, namedEntries, textAt, type YamlItem, type YamlMapping } from '../yaml-item.ts';

/** A model, seed or snapshot: its entry in a YAML file, its own file, or both. */
export interface Declaration {
  readonly kind: DeclaredKind;
  readonly name: string;
  readonly entry?: { readonly yaml: YamlItem; readonly mapping: YamlMapping } | undefined;
  /** For a model with versions, that of the latest. */
  readonly file?: Item | undefined;
  /** The files of the versions of a model, by names like `v2`. */
  readonly versionFiles?: ReadonlyMap<string, Item>;
}

type DeclaredKind = Exclude<RelationKind, 'source'>;
const declaredKinds = ['model', 'seed', 'snapshot'] as const;

interface DeclarationSources {
  readonly files: readonly Item[];
  readonly yamlItems: readonly YamlItem[];
  readonly project: DbtProjectFile;
  readonly faults: DbtFault[];
}

/** Finds every model, seed and snapshot. A second entry of one name becomes a fault, as in dbt. */
export function declareRelations(sources: DeclarationSources): Declaration[] {
  return declaredKinds.flatMap((kind) => declareKind(kind, sources));
}

function declareKind(
  kind: DeclaredKind,
  { files, yamlItems, project, faults }: DeclarationSources,
): Declaration[] {
  const folders = project.paths[`${kind}s`];
  const fileByName = new Map(
    files
      .filter((file) => folders.some((folder) => file.key.startsWith(`${folder}/`)))
      .flatMap((file) => namesInFile(kind, file).map((name) => [name, file] as const)),
  );
  const byName = new Map<string, Declaration>(
    [...fileByName].map(([name, file]) => [name, { kind, name, file }]),
  );
  for (const yaml of yamlItems) {
    for (const mapping of namedEntries(yaml, `${kind}s`)) {
      const name = textAt(mapping, 'name') ?? '';
      const declared = byName.get(name);
      if (declared?.entry === undefined) {
        const versionFiles = filesOfVersions(mapping, fileByName);
        const file = versionFiles.get(latestVersionName(mapping) ?? '') ?? declared?.file;
        byName.set(name, { kind, name, entry: { yaml, mapping }, file, versionFiles });
      } else {
        const reason = `${kind} ${name} has an entry in ${declared.entry.yaml.item.key} already`;
        faults.push({ place: yaml.placeOf(mapping), reason });
      }
    }
  }
  const ofVersions = new Set(
    [...byName.values()].flatMap(({ versionFiles }) => [...(versionFiles?.values() ?? [])]),
  );
  return [...byName.values()].filter(
    ({ entry, file }) => entry !== undefined || file === undefined || !ofVersions.has(file),
  );
}

/** The file of each version that has one. */
function filesOfVersions(
  entry: YamlMapping,
  fileByName: ReadonlyMap<string, Item>,
): ReadonlyMap<string, Item> {
  return new Map(
    readModelVersions(entry).flatMap((version) => {
      const [file] = versionFileNames(entry, version).flatMap((name) => fileByName.get(name) ?? []);
      return file === undefined ? [] : [[version.name, file] as const];
    }),
  );
}

function namesInFile(kind: DeclaredKind, { key, body }: Item): string[] {
  if (kind === 'snapshot') return key.endsWith('.sql') ? snapshotNames(body) : [];
  if (kind === 'seed' && key.endsWith('.csv')) return [basename(key, '.csv')];
  if (kind === 'model' && /\.(sql|py)$/.test(key))
    return [basename(key).replace(/\.(sql|py)$/, '')];
  return [];
}

/** The names of `{% snapshot name %}` blocks. */
function snapshotNames(body: string): string[] {
  return jinjaTags(body).flatMap(({ kind, inside }) => {
    const [, name] = /^snapshot\s+(\w+)$/.exec(inside) ?? [];
    return kind === 'statement' && name !== undefined ? [name] : [];
  });
}

interface Referable {
  readonly declarations: readonly Declaration[];
  readonly yamlItems: readonly YamlItem[];
  /** The name of the project. */
  readonly project: string;
}

/** Adds everything that `ref` and `source` of this project can refer to. */
export function addReferences(
  references: References,
  { declarations, yamlItems, project }: Referable,
): void {
  for (const declaration of declarations) addDeclaration(references, declaration, project);
  for (const source of yamlItems.flatMap((yaml) => namedEntries(yaml, 'sources'))) {
    const sourceName = textAt(source, 'name') ?? '';
    for (const table of mappingsAt(source, 'tables')) {
      const tableName = textAt(table, 'name') ?? '';
      const id = `source.${project}.${sourceName}.${tableName}`;
      references.add('source', [sourceName, tableName], id);
    }
  }
}

function addDeclaration(
  references: References,
  { kind, name, entry }: Declaration,
  project: string,
): void {
  const id = `${kind}.${project}.${name}`;
  const add = (names: readonly string[], target: string) => {
    references.add('ref', names, target);
    references.add('ref', [project, ...names], target);
  };
  const versions = entry === undefined ? [] : readModelVersions(entry.mapping);
  for (const version of versions) add([name, version.name], `${id}.${version.name}`);
  const latest = entry === undefined ? undefined : latestVersionName(entry.mapping);
  add([name], versions.length === 0 ? id : `${id}.${latest}`);
}
