import { join } from 'node:path';
import { CORE_SCHEMA, dump } from 'js-yaml';
import type { z } from 'zod';
import type { Catalog, CatalogTable } from '../../context/catalog/catalog.ts';
import { subjects } from '../../context/claims/claim.ts';
import type { Conflict } from '../../context/compile/conflicts.ts';
import { parseDatasetFile } from '../../context/merge/merge-dataset.ts';
import { parseSubject } from '../../context/claims/subject.ts';
import type { DocumentKind, SearchDocument } from '../../search/documents.ts';
import { isQueryable } from '../../semantic/load/check.ts';
import { type Dataset, datasetSchema, sourceParts } from '../../semantic/model/dataset.ts';
import type { SemanticModel } from '../../semantic/model/model.ts';
import { readAnyText } from '../../store/files.ts';
import { conflictsOfDataset, readConflicts, conflictLines } from '../review/conflicts.ts';
import { listDatasetFiles } from '../open/model-files.ts';
import type { Project } from '../open/open.ts';
import { openStaleness } from '../review/stale.ts';

/** A dataset as agents may see it: hidden fields and metrics are left out, and counted. */
export interface VisibleDataset {
  readonly connection: string;
  readonly path: string;
  readonly dataset: Dataset;
  readonly hidden: number;
  readonly contested: readonly Conflict[];
  /** Subjects that lean on what has changed since a model read it, and why. */
  readonly stale: ReadonlyMap<string, string>;
  /** Metrics of a kind that the planner does not answer yet. */
  readonly unqueryable: ReadonlySet<string>;
}

/** The valid datasets of a connection, sorted by path; of what is not valid, nothing tells what is hidden. */
export async function readVisibleDatasets(
  project: Project,
  connection: string,
): Promise<VisibleDataset[]> {
  const { dir } = project;
  const [conflicts, { model }, staleness] = await Promise.all([
    readConflicts(dir),
    project.model(connection),
    openStaleness(project),
  ]);
  const read = (await listDatasetFiles(dir, connection)).map(async ({ path }) => {
    const dataset = await readArtifact(dir, path, datasetSchema);
    if (dataset === undefined) return [];
    const { fields, metrics, relationships } = dataset;
    const hidden = [...(fields ?? []), ...(metrics ?? [])].filter(
      (item) => !isVisible(item),
    ).length;
    const visible = {
      ...plain(dataset),
      fields: fields?.filter(isVisible).map(plain),
      metrics: metrics?.filter(isVisible).map(plain),
      relationships: relationships?.map(plain),
      access: undefined,
    };
    const unseen = new Set(
      [...(fields ?? []), ...(metrics ?? [])]
        .filter((item) => !isVisible(item))
        .map(({ name }) => name),
    );
    const isSeen = (subject: string) => !unseen.has(parseSubject(subject)?.name ?? '');
    const contested = conflictsOfDataset(conflicts, connection, dataset.dataset).filter(
      ({ subject }) => isSeen(subject),
    );
    const stale = new Map(
      [...(await staleness.ofDataset(connection, dataset.dataset))].filter(([subject]) =>
        isSeen(subject),
      ),
    );
    return [
      {
        connection,
        path,
        dataset: visible,
        hidden,
        contested,
        unqueryable: unqueryableMetrics(model, dataset.dataset),
        stale,
      },
    ];
  });
  return (await Promise.all(read)).flat();
}

/** What other formats left is no matter of agents, and may name what is hidden. */
function plain<Item extends { readonly extensions?: unknown }>(item: Item): Item {
  return item.extensions === undefined ? item : { ...item, extensions: undefined };
}

function isVisible(item: { readonly hidden?: boolean | undefined }): boolean {
  return item.hidden !== true;
}

/** Undefined where the file is absent or not valid: `ktx sl validate` says why. */
async function readArtifact<T>(
  dir: string,
  path: string,
  schema: z.ZodType<T>,
): Promise<T | undefined> {
  const parsed = parseDatasetFile((await readAnyText(join(dir, path), dir)) ?? '');
  return 'mapping' in parsed ? schema.safeParse(parsed.mapping).data : undefined;
}

/** As YAML, one entry a line. */
export function renderDataset({
  dataset,
  hidden,
  contested,
  unqueryable,
  stale,
}: VisibleDataset): string {
  const text = dump(dataset, { schema: CORE_SCHEMA, flowLevel: 2, lineWidth: -1 });
  const marks = [
    ...conflictLines(contested),
    ...staleLines(stale),
    ...unqueryableLines(unqueryable),
  ].map((line) => `# ${line}\n`);
  return text + marks.join('') + (hidden === 0 ? '' : `# ${hidden} hidden, left out\n`);
}

/** Visible metrics of the dataset that a query would refuse by name. */
export function unqueryableMetrics(model: SemanticModel, dataset: string): ReadonlySet<string> {
  const metrics = [...(model.datasets.get(dataset)?.metrics.values() ?? [])];
  return new Set(
    metrics
      .filter((metric) => !metric.hidden && !isQueryable(model, metric))
      .map(({ name }) => name),
  );
}

/** One line for each, for a reader of what it is about. */
export function staleLines(stale: ReadonlyMap<string, string>): string[] {
  return [...stale].map(([subject, why]) => `stale: ${subject}: ${why}`);
}

/** One line, for a reader of the dataset. */
export function unqueryableLines(unqueryable: ReadonlySet<string>): string[] {
  return unqueryable.size === 0 ? [] : [`not yet queryable: ${[...unqueryable].join(', ')}`];
}

/** Finds the dataset that stands on a table of the catalog. */
export function indexDatasetsByTable(
  datasets: readonly VisibleDataset[],
  { firstSchema }: Catalog,
) {
  const key = (parts: readonly (string | undefined)[]) => JSON.stringify(parts).toLowerCase();
  const bySource = new Map(
    datasets.map((each) => [key(sourceParts(each.dataset.source ?? '') ?? []), each]),
  );
  return ({ catalog, schema, table }: CatalogTable): VisibleDataset | undefined => {
    const names = [
      [catalog, schema, table],
      [schema, table],
      schema === firstSchema ? [table] : [],
    ];
    return names.map((parts) => bySource.get(key(parts))).find((found) => found !== undefined);
  };
}

/** What can be found of a dataset. */
export function datasetDocuments({
  connection,
  path: file,
  dataset,
  contested,
  unqueryable,
  stale,
}: VisibleDataset): SearchDocument[] {
  const disputed = new Set(contested.map(({ subject }) => subject));
  const {
    dataset: parent,
    source = '',
    tags = [],
    metrics = [],
    segments = [],
    fields = [],
    row_metrics = [],
    parameters = [],
    relationships = [],
  } = dataset;
  const part = (
    kind: DocumentKind,
    { name, synonyms, description }: Named,
    more: Partial<SearchDocument> = {},
  ): SearchDocument => {
    const subject = `${kind}:${connection}.${parent}.${name}`;
    const document = {
      kind,
      connection,
      subject,
      name,
      parent,
      synonyms,
      description,
      context: [parent],
      file,
      ...more,
    };
    const marks = {
      ...(disputed.has(document.subject) && { contested: true }),
      ...(stale.has(document.subject) && { stale: true }),
    };
    return { ...document, ...marks };
  };
  const words = parameters.flatMap(({ name, description, values = [] }) =>
    [name, description ?? [], ...values.map(String)].flat(),
  );
  const own = {
    subject: subjects.dataset(connection, parent),
    context: [source, ...tags, ...words],
  };
  const taken = (item: object) => parametersOf(item, parameters);
  return [
    part('dataset', { ...dataset, name: parent }, own),
    ...metrics.map((metric) => {
      const detail = [
        metric.unit ?? [],
        ...taken(metric),
        unqueryable.has(metric.name) ? 'not yet queryable' : [],
      ]
        .flat()
        .join(', ');
      return part('metric', metric, detail === '' ? {} : { detail });
    }),
    ...segments.map((segment) => part('segment', segment, { detail: detailOf(taken(segment)) })),
    ...fields.map((field) => {
      const context = [parent, ...(field.values ?? []).slice(0, 50).map(String)];
      return part('field', field, {
        context,
        detail: detailOf([field.type ?? [], ...taken(field)].flat()),
      });
    }),
    ...row_metrics.map((field) => part('field', field, { detail: field.type })),
    ...relationships.map(({ to, on, role = to, description }) => {
      const columns = typeof on === 'string' ? [on] : Object.keys(on);
      const subject = subjects.relationship(connection, parent, columns);
      const detail = `refers to ${to}`;
      return part(
        'relationship',
        { name: role, description },
        { subject, detail, context: [parent, to, ...columns] },
      );
    }),
  ];
}

/** What a query may choose, or has to, where it asks for the item; what the item is made of takes more perhaps. */
function parametersOf(
  item: object,
  parameters: NonNullable<Dataset['parameters']>,
): readonly string[] {
  const text = JSON.stringify(item);
  return parameters.flatMap(({ name, default: value, values }) => {
    if (!new RegExp(`\\bparam\\.${name}\\b`).test(text)) return [];
    const choices = values === undefined ? '' : ` (${values.join(', ')})`;
    return [
      value === undefined
        ? `needs parameter ${name}${choices}`
        : `takes parameter ${name}${choices}`,
    ];
  });
}

function detailOf(words: readonly string[]): string | undefined {
  return words.length === 0 ? undefined : words.join(', ');
}

type Named = Pick<SearchDocument, 'name' | 'synonyms' | 'description'>;
