import { basename } from 'node:path/posix';
import type { Item } from '../../source.ts';
import type { DbtConfig } from '../config.ts';
import type { Fault, ProjectFacts, Relation, RelationKind } from '../facts.ts';
import { projectFile, readProjectFile } from './project-file.ts';
import {
  docBlocks,
  type Mapping,
  mappingsAt,
  type Reading,
  readYamlItem,
  textAt,
  type YamlItem,
} from './yaml-reader.ts';
import { openReferences, type References } from './references.ts';
import { type Declared, declaredRelations, entriesOf, sourceRelations } from './relations.ts';
import { exposuresIn, metricsIn, semanticModelsIn } from './semantics.ts';
import { modelSql, type ModelSql, snapshotsIn } from './sql.ts';

export interface FileFacts extends ProjectFacts {
  readonly project: string;
  /** The files of models, with what code makes of their SQL. */
  readonly sql: readonly { readonly item: Item; readonly sql: ModelSql }[];
}

/** What the files of a project say, as far as code can resolve it; undefined where they are no project. */
export function readFiles(items: readonly Item[], config: DbtConfig): FileFacts | undefined {
  const own = items.find(({ key }) => key === projectFile);
  if (own === undefined) return undefined;
  const project = readProjectFile(own.body);
  const faults: Fault[] = [];
  if (project.broken)
    faults.push({
      place: { key: own.key, line: project.broken.line },
      reason: `not YAML: ${project.broken.reason}`,
    });
  const files = items.filter(({ key }) => key !== projectFile);
  const docs = new Map(files.filter(({ key }) => key.endsWith('.md')).flatMap(docBlocks));
  const reading: Reading = { project, config, docs, faults };
  const yamls = files
    .filter(({ key }) => /\.ya?ml$/.test(key))
    .flatMap((item) => readYamlItem(item, reading) ?? []);
  const declared = declarations(files, yamls, reading);
  const references = referencesOf(declared, yamls, project.name);
  const sources = yamls.flatMap((yaml) =>
    entriesOf(yaml, 'sources').flatMap((one) =>
      sourceRelations(yaml, one, { reading, references }),
    ),
  );
  const relations = new Map(
    [...sources, ...declared.flatMap((one) => declaredRelations(one, reading, references))].map(
      (one) => [one.id, one],
    ),
  );
  const context = { reading, references };
  const tableOf = (written: string) => writtenTable(relations.get(references.idOf(written) ?? ''));
  const models = declared.flatMap(({ kind, file }) =>
    kind === 'model' && file?.key.endsWith('.sql') ? [file] : [],
  );
  return {
    project: project.name,
    relations,
    semanticModels: yamls.flatMap((yaml) => semanticModelsIn(yaml, context)),
    metrics: yamls.flatMap((yaml) => metricsIn(yaml, context)),
    exposures: yamls.flatMap((yaml) => exposuresIn(yaml, context)),
    faults,
    sql: models.map((item) => ({ item, sql: modelSql(item, reading, tableOf) })),
  };
}

const kinds = ['model', 'seed', 'snapshot'] as const;

/** Every model, seed and snapshot by name: what its file and what YAML says of it. */
function declarations(
  files: readonly Item[],
  yamls: readonly YamlItem[],
  { project, faults }: Reading,
): Declared[] {
  const versions = versionFiles(files);
  return kinds.flatMap((kind) => {
    const within = ({ key }: Item) =>
      project.paths[`${kind}s`].some((path) => key.startsWith(`${path}/`));
    const named = new Map<string, Declared>();
    for (const file of files.filter(within))
      for (const name of namesIn(kind, file)) named.set(name, { kind, name, file });
    for (const yaml of yamls) {
      for (const mapping of entriesOf(yaml, `${kind}s`)) {
        const name = textAt(mapping, 'name') ?? '';
        const known = named.get(name);
        if (known?.entry === undefined)
          named.set(name, {
            kind,
            name,
            entry: { yaml, mapping },
            file: known?.file ?? versions.get(name),
          });
        else
          faults.push({
            place: yaml.place(mapping),
            reason: `${kind} ${name} has an entry in ${known.entry.yaml.item.key} already`,
          });
      }
    }
    return [...named.values()].filter(
      ({ name, entry }) => entry !== undefined || !isVersionOf(name, named),
    );
  });
}

function namesIn(kind: Exclude<RelationKind, 'source'>, { key, body }: Item): string[] {
  if (kind === 'snapshot') return key.endsWith('.sql') ? snapshotsIn(body) : [];
  return kind === 'model' && /\.(sql|py)$/.test(key)
    ? [basename(key).replace(/\.(sql|py)$/, '')]
    : [];
}

/** By the model that `orders_v2.sql` is a version of. */
function versionFiles(files: readonly Item[]): ReadonlyMap<string, Item> {
  return new Map(
    files.flatMap((file) => {
      const [, base] = /^(.+)_v\w+\.(?:sql|py)$/.exec(basename(file.key)) ?? [];
      return base === undefined ? [] : [[base, file] as const];
    }),
  );
}

function isVersionOf(name: string, named: ReadonlyMap<string, Declared>): boolean {
  const [, base = ''] = /^(.+)_v\w+$/.exec(name) ?? [];
  const { entry } = named.get(base) ?? {};
  return entry !== undefined && mappingsAt(entry.mapping, 'versions').length > 0;
}

function referencesOf(
  declared: readonly Declared[],
  yamls: readonly YamlItem[],
  project: string,
): References {
  const references = openReferences();
  for (const { kind, name, entry } of declared) {
    const id = `${kind}.${project}.${name}`;
    const versions =
      entry === undefined
        ? []
        : mappingsAt(entry.mapping, 'versions').map((one) => `v${String(one['v'])}`);
    const add = (names: readonly string[], target: string) => {
      references.add('ref', names, target);
      references.add('ref', [project, ...names], target);
    };
    for (const version of versions) add([name, version], `${id}.${version}`);
    const latest = entry?.mapping['latest_version'];
    const newest =
      latest === undefined
        ? versions.toSorted(new Intl.Collator('en', { numeric: true }).compare).at(-1)
        : `v${JSON.stringify(latest)}`;
    add([name], versions.length === 0 ? id : `${id}.${newest}`);
  }
  const named = (one: Mapping) => textAt(one, 'name') ?? '';
  for (const source of yamls.flatMap((yaml) => entriesOf(yaml, 'sources'))) {
    for (const table of mappingsAt(source, 'tables')) {
      references.add(
        'source',
        [named(source), named(table)],
        `source.${project}.${named(source)}.${named(table)}`,
      );
    }
  }
  return references;
}

function writtenTable(relation: Relation | undefined): string | undefined {
  return relation && [...relation.schemas.slice(0, 1), relation.table].join('.');
}
