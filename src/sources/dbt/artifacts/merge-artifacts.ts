import type { ProjectFacts, Relation } from '../facts.ts';
import type { FileFacts } from '../files/read-files.ts';

/**
 * Files and artifacts as one. The files are what people review and the newer of the two; the artifacts resolve what code cannot
 * (where a model is built, what a template comes to) and know the relations of packages. What else only the artifacts have is
 * stale and left out.
 */
export function united(
  files: FileFacts | undefined,
  artifacts: ProjectFacts | undefined,
): ProjectFacts {
  if (files === undefined || artifacts === undefined) return files ?? artifacts ?? nothing;
  const isOfPackage = (id: string) => id.split('.')[1] !== files.project;
  const others = [...artifacts.relations].filter(([id]) => isOfPackage(id));
  const own = [...files.relations].map(
    ([id, one]) => [id, completed(one, artifacts.relations.get(id))] as const,
  );
  const isAnswered = (id: string | undefined) =>
    [...artifacts.relations.keys()].some((known) => known === id || known.startsWith(`${id}.`));
  return {
    ...files,
    relations: new Map([...own, ...others]),
    faults: files.faults.filter(({ relation }) => !isAnswered(relation)),
  };
}

const nothing: ProjectFacts = {
  relations: new Map(),
  semanticModels: [],
  metrics: [],
  exposures: [],
  faults: [],
};

function completed(own: Relation, built: Relation | undefined): Relation {
  if (built === undefined) return own;
  const { database, schemas, table, isVirtual } = built;
  const columns = own.columns.map((column) => {
    return {
      ...column,
      description:
        column.description ?? built.columns.find(({ name }) => name === column.name)?.description,
    };
  });
  return {
    ...own,
    database,
    schemas,
    table,
    isVirtual,
    columns,
    description: own.description ?? built.description,
  };
}
