import { basename } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Catalog } from '../context/catalog/catalog.ts';
import { type ColumnLabels, readColumnLabels } from '../context/catalog/column-labels.ts';
import type { Claim, ClaimKind } from '../context/claims/claim.ts';
import { claimsPath, parseClaims } from '../context/claims/claims-file.ts';
import { indexNames, type NameIndex } from '../context/claims/name-index.ts';
import { parseSubject } from '../context/claims/subject.ts';
import { artifactPath, parseDatasetFile } from '../context/merge/merge-dataset.ts';
import { sectionSubject, listSections } from '../context/wiki/page-sections.ts';
import { parseWikiClaims } from '../context/wiki/wiki-claims.ts';
import { wikiClaimsPath } from '../context/wiki/wiki-paths.ts';
import type { SearchDocument } from '../search/documents.ts';
import { updateIndex } from '../search/index.ts';
import { searchIndex, type SearchHit, type SearchOptions } from '../search/search.ts';
import { type Dataset, datasetSchema } from '../semantic/model/dataset.ts';
import type { Warehouse } from '../warehouse/warehouse.ts';
import type { ProjectFindings } from './fetch/findings.ts';
import type { FileTree } from './publish/project-files.ts';
import { applyWrites } from './publish/rendering.ts';
import { renderProject } from './render/render.ts';

/**
 * The project as the loops of a run see it: as the run would publish it without any new answer of a
 * model. It is the same for every work unit, in whatever order they run. In a first run it has the
 * files that are not written yet.
 */
export interface Snapshot {
  readonly catalogs: readonly Catalog[];
  readonly files: FileTree;
  readonly names: NameIndex;
  /** What people wrote about columns in the dataset files. */
  readonly labels: ColumnLabels;
  /** All claims about a subject. */
  claims(subject: string): readonly Claim[];
  /** The dataset of a file; undefined if there is none, or if it is invalid. */
  dataset(connection: string, name: string): Dataset | undefined;
  search(text: string, options: Pick<SearchOptions, 'kinds' | 'limit'>): SearchHit[];
  warehouse(connection: string): Promise<Warehouse>;
}

/** `filesOnDisk` are the project's files before the run. */
export function openSnapshot(findings: ProjectFindings, filesOnDisk: FileTree): Snapshot {
  return snapshotOf({
    catalogs: findings.connections.map(({ catalog }) => catalog),
    files: applyWrites(filesOnDisk, renderProject(findings, filesOnDisk).writes),
    async warehouse(connection) {
      const found = findings.connections.find(({ catalog }) => catalog.connection === connection);
      if (found === undefined) throw new Error(`no warehouse ${connection}`);
      return found.warehouse();
    },
  });
}

/** What a snapshot is made of. */
type SnapshotParts = Pick<Snapshot, 'catalogs' | 'files' | 'warehouse'>;

export function snapshotOf({ catalogs, files, warehouse }: SnapshotParts): Snapshot {
  const claimsIn = memoize((path) => {
    const { claims } =
      path === wikiClaimsPath ? parseWikiClaims(files) : parseClaims(path, files.get(path) ?? '');
    return Map.groupBy(claims, ({ subject }) => subject);
  });
  const datasetIn = memoize((path) => parseDataset(files.get(path)));
  const openIndex = memoize(() => buildIndex(files));
  return {
    catalogs,
    files,
    names: indexNames(catalogs),
    labels: readColumnLabels(files),
    claims(subject) {
      const owner = parseSubject(subject);
      const path = owner ? claimsPath(owner.connection, owner.dataset) : wikiClaimsPath;
      return claimsIn(path).get(subject) ?? [];
    },
    dataset: (connection, name) => datasetIn(artifactPath(connection, name)),
    search: (text, options) => searchIndex(openIndex('all'), text, options),
    warehouse,
  };
}

/**
 * Whether a source, the warehouse or a person makes a claim of this kind about the subject, and not
 * only models.
 */
export function hasNonModelClaim(snapshot: Snapshot, subject: string, kind: ClaimKind): boolean {
  return snapshot
    .claims(subject)
    .some(
      (claim) => claim.kind === kind && claim.evidence.some(({ origin }) => origin !== 'model'),
    );
}

function memoize<Value>(make: (key: string) => Value): (key: string) => Value {
  const values = new Map<string, { readonly value: Value }>();
  return (key) => {
    const known = values.get(key) ?? { value: make(key) };
    values.set(key, known);
    return known.value;
  };
}

function parseDataset(text: string | undefined): Dataset | undefined {
  const parsed = parseDatasetFile(text ?? '');
  return 'mapping' in parsed ? datasetSchema.safeParse(parsed.mapping).data : undefined;
}

/**
 * An index in memory of datasets, their visible fields and metrics, and the sections of the wiki.
 */
function buildIndex(files: FileTree): Parameters<typeof updateIndex>[0] {
  const db = new DatabaseSync(':memory:');
  const index = { db, close: () => db.close() };
  const documents = [...files].flatMap(([path, text]) => documentsIn(path, text));
  const unique = new Map(documents.map((document) => [document.subject, document]));
  updateIndex(index, {
    connection: 'project',
    documents: [...unique.values()],
    fingerprint: '',
  });
  return index;
}

function documentsIn(path: string, text: string): SearchDocument[] {
  const [, connection] = /^semantic-layer\/([^/]+)\/[^/]+\.ya?ml$/.exec(path) ?? [];
  if (connection !== undefined) return buildSnapshotDocuments(connection, path, parseDataset(text));
  if (!/^wiki\/[^/]+\.md$/.test(path)) return [];
  return listSections(basename(path, '.md'), text, new Map()).map((section) =>
    sectionDocument(path, section),
  );
}

function buildSnapshotDocuments(
  connection: string,
  file: string,
  dataset: Dataset | undefined,
): SearchDocument[] {
  if (dataset === undefined) return [];
  const { dataset: parent, description, synonyms, fields = [], metrics = [] } = dataset;
  const place = { connection, parent, file };
  const memberDocument = (kind: 'field' | 'metric', member: DatasetMember): SearchDocument => ({
    ...place,
    kind,
    subject: `${kind}:${connection}.${parent}.${member.name}`,
    name: member.name,
    description: member.description,
    synonyms: member.synonyms,
  });
  const subject = `dataset:${connection}.${parent}`;
  return [
    { ...place, kind: 'dataset', subject, name: parent, description, synonyms },
    ...metrics.filter(isVisible).map((metric) => memberDocument('metric', metric)),
    ...fields.filter(isVisible).map((field) => memberDocument('field', field)),
  ];
}

interface DatasetMember {
  readonly name: string;
  readonly description?: string | undefined;
  readonly synonyms?: readonly string[] | undefined;
}

function isVisible({ hidden }: { readonly hidden?: boolean | undefined }): boolean {
  return hidden !== true;
}

function sectionDocument(
  path: string,
  { title, text }: { readonly title: string; readonly text: string },
): SearchDocument {
  const subject = sectionSubject(path, title);
  return {
    kind: subject.startsWith('rule:') ? 'rule' : 'term',
    connection: 'wiki',
    subject,
    name: title,
    parent: path,
    description: text.replaceAll(/\s+/g, ' ').trim().slice(0, 600),
  };
}
