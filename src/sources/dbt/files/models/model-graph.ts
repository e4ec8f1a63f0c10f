import type { DbtExposure, DbtRelation, DbtSemanticModel } from '../../dbt-project.ts';
import { jinjaTags, parseJinjaCall } from '../jinja.ts';
import { layerInGraph } from './layers.ts';
import type { ProjectFiles } from '../project-files.ts';

interface Askers {
  readonly semanticModels: readonly DbtSemanticModel[];
  readonly exposures: readonly DbtExposure[];
}

/**
 * The relations, with the layer that their place in the graph tells where nothing else does, and
 * with the readers of ephemeral models.
 */
export function placeInGraph(
  relations: ReadonlyMap<string, DbtRelation>,
  listReads: () => ReadonlyMap<string, readonly string[]>,
  { semanticModels, exposures }: Askers,
): ReadonlyMap<string, DbtRelation> {
  const isOpen = ({ kind, layer }: DbtRelation) => kind === 'model' && layer === undefined;
  if (![...relations.values()].some((relation) => isOpen(relation) || relation.isEphemeral))
    return relations;
  const reads = listReads();
  const isRead = new Set([...reads.values()].flat());
  const isAsked = new Set([
    ...semanticModels.flatMap(({ model }) => model ?? []),
    ...exposures.flatMap(({ dependsOn }) => dependsOn),
  ]);
  const layerOf = (id: string) => {
    const read = reads.get(id) ?? [];
    const readsModels = read.some((target) => target.startsWith('model.'));
    const readsSources = read.some((target) => !target.startsWith('model.'));
    return layerInGraph({
      readsSources,
      readsModels,
      isRead: isRead.has(id),
      isAsked: isAsked.has(id),
    });
  };
  return new Map(
    [...relations].map(([id, relation]) => [
      id,
      {
        ...relation,
        layer: isOpen(relation) ? layerOf(id) : relation.layer,
        readers: relation.isEphemeral ? findReaders(id, reads, relations) : undefined,
      },
    ]),
  );
}

/** The relations with a table that read the model, directly or through ephemeral ones. */
function findReaders(
  model: string,
  reads: ReadonlyMap<string, readonly string[]>,
  relations: ReadonlyMap<string, DbtRelation>,
): readonly string[] {
  const found = new Set([model]);
  for (const id of found)
    for (const [reader, read] of reads)
      if (read.includes(id) && (id === model || relations.get(id)?.isEphemeral === true))
        found.add(reader);
  return [...found].filter((id) => relations.get(id)?.isEphemeral === false);
}

/** The unique ids that the SQL of each model reads, by the unique id of the model. */
export function modelReads({
  declarations,
  references,
  project,
}: ProjectFiles): ReadonlyMap<string, readonly string[]> {
  const idsIn = (body: string) =>
    jinjaTags(body).flatMap(({ kind, inside }) => {
      const call = kind === 'expression' ? parseJinjaCall(inside) : undefined;
      return (call && references.idOfCall(call)) ?? [];
    });
  return new Map(
    declarations
      .filter(({ kind }) => kind === 'model')
      .flatMap(({ name, file, versionFiles }) => {
        const id = `model.${project.name}.${name}`;
        const versions = [...(versionFiles ?? [])].map(
          ([version, item]) => [`${id}.${version}`, idsIn(item.body)] as const,
        );
        if (versions.length > 0 || file === undefined) return versions;
        return [[id, idsIn(file.body)] as const];
      }),
  );
}
