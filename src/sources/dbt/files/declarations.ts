import { basename } from 'node:path/posix';
import type { Item } from '../../source.ts';
import type { DbtFault, RelationKind } from '../dbt-project.ts';
import { jinjaTags } from './jinja.ts';
import type { DbtProjectFile } from './project-file.ts';
import type { References } from './references.ts';
import { mappingsAt, namedEntries, textAt, type YamlItem, type YamlMapping } from './yaml-item.ts';

/** A model, seed or snapshot: its entry in a YAML file, its own file, or both. */
export interface Declaration {
  readonly kind: DeclaredKind;
  readonly name: string;
  readonly entry?: { readonly yaml: YamlItem; readonly mapping: YamlMapping } | undefined;
  readonly file?: Item | undefined;
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
  const baseFiles = versionFiles(files);
  const byName = new Map<string, Declaration>();
  for (const file of files)
    if (folders.some((folder) => file.key.startsWith(`${folder}/`)))
      for (const name of namesInFile(kind, file)) byName.set(name, { kind, name, file });
  for (const yaml of yamlItems) {
    for (const mapping of namedEntries(yaml, `${kind}s`)) {
      const name = textAt(mapping, 'name') ?? '';
      const declared = byName.get(name);
      if (declared?.entry === undefined) {
        const file = declared?.file ?? baseFiles.get(name);
        byName.set(name, { kind, name, entry: { yaml, mapping }, file });
      } else {
        const reason = `${kind} ${name} has an entry in ${declared.entry.yaml.item.key} already`;
        faults.push({ place: yaml.placeOf(mapping), reason });
      }
    }
  }
  return [...byName.values()].filter(
    ({ name, entry }) => entry !== undefined || !isVersionFile(name, byName),
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

/** Files like `orders_v2.sql`, by the model that they are a version of. */
function versionFiles(files: readonly Item[]): ReadonlyMap<string, Item> {
  return new Map(
    files.flatMap((file) => {
      const [, base] = /^(.+)_v\w+\.(?:sql|py)$/.exec(basename(file.key)) ?? [];
      return base === undefined ? [] : [[base, file] as const];
    }),
  );
}

function isVersionFile(name: string, byName: ReadonlyMap<string, Declaration>): boolean {
  const [, base = ''] = /^(.+)_v\w+$/.exec(name) ?? [];
  const { entry } = byName.get(base) ?? {};
  return entry !== undefined && mappingsAt(entry.mapping, 'versions').length > 0;
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
  const versions = entry === undefined ? [] : versionNames(entry.mapping);
  for (const version of versions) add([name, version], `${id}.${version}`);
  add([name], versions.length === 0 ? id : `${id}.${latestVersion(versions, entry?.mapping)}`);
}

/** The versions of a model, like `v2`. */
export function versionNames(mapping: YamlMapping): string[] {
  return mappingsAt(mapping, 'versions').map((version) => `v${String(version['v'])}`);
}

function latestVersion(versions: readonly string[], mapping: YamlMapping | undefined) {
  const latest = mapping?.['latest_version'];
  if (typeof latest === 'string' || typeof latest === 'number') return `v${latest}`;
  return versions.toSorted(new Intl.Collator('en', { numeric: true }).compare).at(-1);
}
