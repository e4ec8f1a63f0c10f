import type { Item, Transformation } from '../source.ts';
import type { DbtConfig } from './config.ts';
import { modelReads } from './files/models/model-graph.ts';
import { readRelations } from './files/models/relations.ts';
import { openProjectFiles } from './files/project-files.ts';

/** What each relation of the project reads, as the files of its models say it. */
export function listTransformations(
  items: readonly Item[],
  config: DbtConfig,
): readonly Transformation[] {
  const sorted = items.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  const files = openProjectFiles(sorted, config);
  if (files === undefined) return [];
  const reads = modelReads(files);
  const fileOf = new Map<string, string>(
    files.declarations.flatMap(({ kind, name, file }) =>
      file === undefined ? [] : [[`${kind}.${files.project.name}.${name}`, file.key] as const],
    ),
  );
  return readRelations(files).map(({ id, kind, name, table, schemas, place }) => ({
    id,
    name: `${kind} ${name}`,
    item: fileOf.get(id) ?? place.key,
    table,
    schemas,
    reads: reads.get(id) ?? [],
  }));
}
