import { DatabaseSync } from 'node:sqlite';
import { basename } from 'node:path';
import type { Catalog } from '../context/catalog/catalog.ts';
import type { Claim, ClaimKind } from '../context/claims/claim.ts';
import { claimsPath, parseClaims } from '../context/claims/claims-file.ts';
import { indexNames, type NameIndex } from '../context/claims/name-index.ts';
import { artifactPath, parseDatasetFile } from '../context/merge/merge-dataset.ts';
import { parseSubject } from '../context/claims/subject.ts';
import { sectionSubject, listSections } from '../context/wiki/page-sections.ts';
import { wikiClaimsPath } from '../context/wiki/wiki-paths.ts';
import { updateIndex } from '../search/index.ts';
import type { SearchDocument } from '../search/documents.ts';
import { searchIndex, type SearchHit, type SearchOptions } from '../search/search.ts';
import { type Dataset, datasetSchema } from '../semantic/model/dataset.ts';
import type { Warehouse } from '../warehouse/warehouse.ts';
import type { ProjectFindings } from './fetch/findings.ts';
import type { FileTree } from './publish/project-files.ts';
import { finalTexts } from './publish/rendering.ts';
import { renderProject } from './render/render.ts';

/**
 * What loops read: the project as this run would publish it without any fresh word of a model. It is the same for every work
 * unit, whatever their order, and it is whole in a first run too, when no file is there yet.
 */
export interface Snapshot {
  readonly catalogs: readonly Catalog[];
  readonly files: FileTree;
  readonly names: NameIndex;
  /** All that is claimed about a subject. */
  claims(subject: string): readonly Claim[];
  /** The dataset as its file has it; undefined where there is none. */
  dataset(connection: string, name: string): Dataset | undefined;
  search(text: string, options: Pick<SearchOptions, 'kinds' | 'limit'>): SearchHit[];
  warehouse(connection: string): Promise<Warehouse>;
}

/** `files` are those on disk. */
export function openSnapshot(findings: ProjectFindings, files: FileTree): Snapshot {
  const rendered = finalTexts(renderProject(findings, files).writes);
  const standing = new Map(
    [...new Map([...files, ...rendered])].flatMap(([path, text]) =>
      text === undefined ? [] : [[path, text]],
    ),
  );
  const catalogs = findings.connections.map(({ catalog }) => catalog);
  const claimsAt = remembered((path) =>
    Map.groupBy(parseClaims(path, standing.get(path) ?? '').claims, ({ subject }) => subject),
  );
  const datasetAt = remembered((path) => readDataset(standing.get(path)));
  const index = remembered(() => indexed(standing));
  return {
    catalogs,
    files: standing,
    names: indexNames(catalogs),
    claims(subject) {
      const owner = parseSubject(subject);
      return (
        claimsAt(owner ? claimsPath(owner.connection, owner.dataset) : wikiClaimsPath).get(
          subject,
        ) ?? []
      );
    },
    dataset: (connection, name) => datasetAt(artifactPath(connection, name)),
    search: (text, options) => searchIndex(index(''), text, options),
    async warehouse(connection) {
      const found = findings.connections.find(({ catalog }) => catalog.connection === connection);
      if (found === undefined) throw new Error(`no warehouse ${connection}`);
      return found.warehouse();
    },
  };
}

/** Whether anybody but a model says this of the subject: a source, the warehouse itself, or a person in a claim. */
export function isSaid(snapshot: Snapshot, subject: string, kind: ClaimKind): boolean {
  return snapshot
    .claims(subject)
    .some(
      (claim) => claim.kind === kind && claim.evidence.some(({ origin }) => origin !== 'model'),
    );
}

function remembered<T>(make: (key: string) => T): (key: string) => T {
  const made = new Map<string, T>();
  return (key) => {
    if (!made.has(key)) made.set(key, make(key));
    return made.get(key) as T;
  };
}

function readDataset(text: string | undefined): Dataset | undefined {
  const parsed = parseDatasetFile(text ?? '');
  return 'mapping' in parsed ? datasetSchema.safeParse(parsed.mapping).data : undefined;
}

/** An index in memory, of datasets, their visible fields and metrics, and the sections of the wiki. */
function indexed(files: FileTree) {
  const db = new DatabaseSync(':memory:');
  const documents = [...files].flatMap(([path, text]) => documentsOf(path, text));
  const unique = new Map(documents.map((document) => [document.subject, document]));
  updateIndex(
    { db, close: () => db.close() },
    { connection: 'project', documents: [...unique.values()], fingerprint: '' },
  );
  return { db, close: () => db.close() };
}

function documentsOf(path: string, text: string): SearchDocument[] {
  const [, connection, page] =
    /^semantic-layer\/([^/]+)\/[^/]+\.ya?ml$|^wiki\/([^/]+)\.md$/.exec(path) ?? [];
  if (page !== undefined)
    return listSections(basename(path, '.md'), text, new Map()).map((section) =>
      sectionDocument(path, section),
    );
  const dataset = connection === undefined ? undefined : readDataset(text);
  if (connection === undefined || dataset === undefined) return [];
  const { dataset: parent, description, synonyms, fields = [], metrics = [] } = dataset;
  const own = { connection, parent, file: path };
  const part = (
    kind: 'field' | 'metric',
    {
      name,
      ...said
    }: {
      readonly name: string;
      readonly description?: string | undefined;
      readonly synonyms?: readonly string[] | undefined;
    },
  ) => ({
    ...own,
    kind,
    subject: `${kind}:${connection}.${parent}.${name}`,
    name,
    description: said.description,
    synonyms: said.synonyms,
  });
  return [
    {
      ...own,
      kind: 'dataset',
      subject: `dataset:${connection}.${parent}`,
      name: parent,
      description,
      synonyms,
    },
    ...metrics.filter(({ hidden }) => hidden !== true).map((metric) => part('metric', metric)),
    ...fields.filter(({ hidden }) => hidden !== true).map((field) => part('field', field)),
  ];
}

function sectionDocument(
  path: string,
  { title, text }: { readonly title: string; readonly text: string },
): SearchDocument {
  const subject = sectionSubject(path, title);
  const description = text.replaceAll(/\s+/g, ' ').trim().slice(0, 600);
  return {
    kind: subject.startsWith('rule:') ? 'rule' : 'term',
    connection: 'wiki',
    subject,
    name: title,
    parent: path,
    description,
  };
}
