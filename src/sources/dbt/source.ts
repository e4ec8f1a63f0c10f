import { openClaimCollector, type ClaimCollector } from '../claim-collector.ts';
import type { ExtractContext, Extraction, Item, Source } from '../source.ts';
import { tableFinder } from '../table-finder.ts';
import { isArtifactKey, readArtifacts } from './artifacts/read-artifacts.ts';
import { claimProject } from './claim-project.ts';
import type { DbtConfig } from './config.ts';
import type { DbtLeftOut, DbtProject, DbtRelation } from './dbt-project.ts';
import { fetchProject } from './fetch.ts';
import { readLeftOut } from './files/left-out.ts';
import { needsReading, resolveModelSql } from './files/models/model-sql.ts';
import { codeOwnersKey } from './files/code-owners.ts';
import { modelReads, placeInGraph } from './files/models/model-graph.ts';
import { packagesKey, readUnreadPackages } from './files/packages.ts';
import { projectFileName } from './files/project-file.ts';
import { openProjectFiles, type ProjectFiles } from './files/project-files.ts';
import { readRelations } from './files/models/relations.ts';
import { listTransformations } from './transformations.ts';
import {
  readDbtExposures,
  readDbtMetrics,
  readDbtSavedQueries,
  readDbtSemanticModels,
} from './files/semantics.ts';

const dbtExtractor = 'dbt@1';

/** A dbt project: its files, and the artifacts that dbt made of them. */
export const dbt: Source<DbtConfig> = {
  extractor: dbtExtractor,
  fetch: fetchProject,
  // A fresh clone has no artifacts, because dbt has not run there. Those of an earlier run
  // elsewhere still hold.
  covers: (key) => !isArtifactKey(key) && key !== packagesKey,
  isConfiguration: (key) => [projectFileName, codeOwnersKey, packagesKey].includes(key),
  transformations: listTransformations,
  extract: extractProject,
};

/** Reads the files and the artifacts, merges the two, and claims what they say. */
function extractProject(
  items: readonly Item[],
  { connection, config, catalogs }: ExtractContext<DbtConfig>,
): readonly Extraction[] {
  const collector = openClaimCollector(items, { connection, extractor: dbtExtractor });
  const sorted = items.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  const files = openProjectFiles(sorted, config);
  const fromFiles = files && readFiles(files);
  const project = mergeArtifacts(fromFiles, readArtifacts(sorted), files?.project.name);
  claimProject(project, tableFinder(catalogs, config.warehouse), collector);
  for (const { place, ...statement } of readUnreadPackages(sorted, project.relations.keys()))
    collector.leaveOut(place, statement);
  if (files && fromFiles) collectModelSql(files, fromFiles, collector);
  return collector.extractions();
}

function readFiles(files: ProjectFiles): DbtProject {
  const relations = new Map(readRelations(files).map((relation) => [relation.id, relation]));
  const semanticModels = files.yamlItems.flatMap((yaml) => readDbtSemanticModels(yaml, files));
  const exposures = files.yamlItems.flatMap((yaml) => readDbtExposures(yaml, files));
  return {
    relations: placeInGraph(relations, () => modelReads(files), { semanticModels, exposures }),
    semanticModels,
    metrics: files.yamlItems.flatMap((yaml) => readDbtMetrics(yaml, files)),
    savedQueries: files.yamlItems.flatMap((yaml) => readDbtSavedQueries(yaml, files)),
    exposures,
    faults: files.faults,
    leftOut: readLeftOut(files),
  };
}

/** The SQL of models is left to a model where it decides something. */
function collectModelSql(
  files: ProjectFiles,
  { relations }: DbtProject,
  collector: ClaimCollector,
): void {
  for (const item of files.modelItems) {
    const place = { key: item.key, line: 1 };
    const { text, unknown } = resolveModelSql(item, files, relations);
    if (unknown.length > 0)
      collector.addProblem(place, `the project does not have ${unknown.join(', ')}`);
    if (needsReading(text)) collector.addUnread(place, { what: 'sql', text });
  }
}

const emptyProject: DbtProject = {
  relations: new Map(),
  semanticModels: [],
  metrics: [],
  savedQueries: [],
  exposures: [],
  faults: [],
  leftOut: [],
};

/**
 * Files and artifacts as one project. The files are what people review, and are newer. The
 * artifacts add what code cannot resolve in the files (the table of a model, a rendered
 * description), and the relations of packages. Anything else that only the artifacts have is
 * outdated: its relations are named as left out.
 */
function mergeArtifacts(
  files: DbtProject | undefined,
  artifacts: DbtProject | undefined,
  projectName: string | undefined,
): DbtProject {
  if (files === undefined || artifacts === undefined) return files ?? artifacts ?? emptyProject;
  const ofPackages = [...artifacts.relations].filter(([id]) => id.split('.')[1] !== projectName);
  const own = [...files.relations].map(
    ([id, relation]) => [id, mergeRelation(relation, artifacts.relations.get(id))] as const,
  );
  const builtIds = [...artifacts.relations.keys()];
  const isBuilt = (id: string | undefined) =>
    builtIds.some((builtId) => builtId === id || builtId.startsWith(`${id}.`));
  return {
    ...files,
    relations: new Map([...own, ...ofPackages]),
    faults: files.faults.filter(({ relation }) => !isBuilt(relation)),
    leftOut: [...files.leftOut, ...outdated(files, artifacts, projectName)],
  };
}

/** What the project had when dbt made the artifacts, or another project has. */
function outdated(
  files: DbtProject,
  artifacts: DbtProject,
  projectName: string | undefined,
): readonly DbtLeftOut[] {
  // A version of a model has one part more: `model.shop.orders.v2`.
  const hasFile = (id: string) =>
    files.relations.has(id) || files.relations.has(id.slice(0, id.lastIndexOf('.')));
  return [...artifacts.relations.values()]
    .filter(({ id }) => id.split('.')[1] === projectName && !hasFile(id))
    .map(({ kind, name, place }) => ({ place, what: `${kind} that only the manifest has`, name }));
}

function mergeRelation(own: DbtRelation, built: DbtRelation | undefined): DbtRelation {
  if (built === undefined) return own;
  const { database, schemas, table, isVirtual, isEphemeral } = built;
  const builtColumns = new Map(built.columns.map((column) => [column.name, column]));
  return {
    ...own,
    database,
    schemas,
    table,
    isVirtual,
    isUnresolved: built.isUnresolved,
    isEphemeral,
    owner: own.owner ?? built.owner,
    layer: own.layer ?? built.layer,
    timeSpine: own.timeSpine ?? built.timeSpine,
    description: own.description ?? built.description,
    columns: own.columns.map((column) => ({
      ...column,
      description: column.description ?? builtColumns.get(column.name)?.description,
    })),
  };
}
