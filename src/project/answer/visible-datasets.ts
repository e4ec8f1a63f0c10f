import { join } from 'node:path';
import { CORE_SCHEMA, dump } from 'js-yaml';
import type { z } from 'zod';
import { isClosing, readLabel } from '../../context/catalog/column-labels.ts';
import type { Catalog, CatalogTable } from '../../context/catalog/catalog.ts';
import type { Conflict } from '../../context/compile/conflicts.ts';
import { parseDatasetFile } from '../../context/merge/merge-dataset.ts';
import { loadUsage, type TableUsage } from '../../context/usage/usage.ts';
import { parseSubject } from '../../context/claims/subject.ts';
import { isQueryable } from '../../semantic/load/check.ts';
import { type Dataset, datasetSchema, splitTableName } from '../../semantic/model/dataset.ts';
import type { DatasetField } from '../../semantic/formats/imported-model.ts';
import type { SemanticModel } from '../../semantic/model/model.ts';
import { readTextOrReason } from '../../store/text-or-reason.ts';
import { filterDatasetConflicts, readConflicts, describeConflicts } from '../review/conflicts.ts';
import { listDatasetFiles } from '../open/model-files.ts';
import type { Project } from '../open/open.ts';
import { openStaleness } from '../review/stale.ts';

/** A dataset as agents may see it, without its hidden fields and metrics. */
export interface VisibleDataset {
  readonly connection: string;
  readonly path: string;
  readonly dataset: Dataset;
  /** How many fields and metrics are hidden. */
  readonly hidden: number;
  readonly contested: readonly Conflict[];
  /** Stale subjects of the dataset, and why they are stale. */
  readonly stale: ReadonlyMap<string, string>;
  /** Metrics of a kind that the planner does not support yet. */
  readonly unqueryable: ReadonlySet<string>;
  /** How much people use its table; undefined if nobody knows. */
  readonly usage?: TableUsage | undefined;
}

/**
 * The valid datasets of a connection, sorted by path. An invalid file is left out as a whole,
 * because ktx cannot tell which of its parts are hidden.
 */
export async function readVisibleDatasets(
  project: Project,
  connection: string,
): Promise<VisibleDataset[]> {
  const { dir } = project;
  const [conflicts, { model }, staleness, findUsage] = await Promise.all([
    readConflicts(dir),
    project.model(connection),
    openStaleness(project),
    loadUsage(dir, connection),
  ]);
  const datasets = (await listDatasetFiles(dir, connection)).map(async ({ path }) => {
    const dataset = await readArtifact(dir, path, datasetSchema);
    if (dataset === undefined) return [];
    const hiddenNames = new Set(
      [...(dataset.fields ?? []), ...(dataset.metrics ?? [])]
        .filter((item) => !isVisible(item))
        .map(({ name }) => name),
    );
    const isAboutVisible = (subject: string) => !hiddenNames.has(parseSubject(subject)?.name ?? '');
    const contested = filterDatasetConflicts(conflicts, connection, dataset.dataset);
    const stale = await staleness.ofDataset(connection, dataset.dataset);
    return [
      {
        connection,
        path,
        dataset: visibleParts(dataset),
        hidden: countHidden(dataset),
        contested: contested.filter(({ subject }) => isAboutVisible(subject)),
        stale: new Map([...stale].filter(([subject]) => isAboutVisible(subject))),
        unqueryable: findUnqueryableMetrics(model, dataset.dataset),
        usage: usageOf(dataset, findUsage),
      },
    ];
  });
  return (await Promise.all(datasets)).flat();
}

function usageOf(
  { source = '' }: Dataset,
  findUsage: Awaited<ReturnType<typeof loadUsage>>,
): TableUsage | undefined {
  const [table, schema, catalog] = (splitTableName(source) ?? []).toReversed();
  const isNamed = table !== undefined && schema !== undefined;
  return isNamed ? findUsage({ catalog, schema, table }) : undefined;
}

/** True for a metric that nobody has accepted and that would name a hidden field. */
function isOfHidden(
  { unreviewed, of }: NonNullable<Dataset['metrics']>[number],
  { fields = [] }: Dataset,
): boolean {
  const words = unreviewed === true && typeof of === 'string' ? of.split(/\W+/) : [];
  return fields.some((field) => !isVisible(field) && words.includes(field.name));
}

/** The dataset without metrics that nobody has accepted. */
export function withoutUnreviewed(visible: VisibleDataset): VisibleDataset {
  const { metrics = [] } = visible.dataset;
  const reviewed = metrics.filter(({ unreviewed }) => unreviewed !== true);
  return reviewed.length === metrics.length
    ? visible
    : { ...visible, dataset: { ...visible.dataset, metrics: reviewed } };
}

function visibleParts(dataset: Dataset): Dataset {
  return {
    ...withoutExtensions(dataset),
    constraints: visibleConstraints(dataset),
    fields: dataset.fields
      ?.filter(isVisible)
      .map(withoutExtensions)
      .map((field) => withoutPersonalValues(dataset, field)),
    metrics: dataset.metrics
      ?.filter((metric) => isVisible(metric) && !isOfHidden(metric, dataset))
      .map(withoutExtensions),
    relationships: dataset.relationships?.map(withoutExtensions),
    access: undefined,
  };
}

/** Values that a file declares of a field are not shown if it says that they are personal. */
function withoutPersonalValues(dataset: Dataset, field: DatasetField): DatasetField {
  const { pii = dataset.pii } = field;
  const label = readLabel({ pii, values: dataset.values });
  return Array.isArray(field.values) && isClosing(label) ? { ...field, values: undefined } : field;
}

/** Conditions that name nothing hidden. */
function visibleConstraints({ constraints, fields = [], metrics = [] }: Dataset) {
  const hidden = new Set([...fields, ...metrics].filter((item) => !isVisible(item)).map(nameOf));
  const names = (text: string) => text.toLowerCase().match(/[\p{L}\p{N}_$]+/gu) ?? [];
  return constraints?.filter((text) => !names(text).some((name) => hidden.has(name)));
}

function nameOf({ name }: { readonly name: string }): string {
  return name.toLowerCase();
}

function countHidden({ fields = [], metrics = [] }: Dataset): number {
  return [...fields, ...metrics].filter((item) => !isVisible(item)).length;
}

/** Extensions are for other tools, and may name what is hidden. */
function withoutExtensions<Item extends { readonly extensions?: unknown }>(item: Item): Item {
  return item.extensions === undefined ? item : { ...item, extensions: undefined };
}

function isVisible(item: { readonly hidden?: boolean | undefined }): boolean {
  return item.hidden !== true;
}

/** Undefined if the file is missing or invalid; `ktx sl validate` says why. */
async function readArtifact<T>(
  dir: string,
  path: string,
  schema: z.ZodType<T>,
): Promise<T | undefined> {
  const parsed = parseDatasetFile((await readTextOrReason(join(dir, path), dir)) ?? '');
  return 'mapping' in parsed ? schema.safeParse(parsed.mapping).data : undefined;
}

/** YAML with one entry per line, then conflicts, stale subjects and other remarks as comments. */
export function renderVisibleDataset({
  dataset,
  hidden,
  contested,
  unqueryable,
  stale,
}: VisibleDataset): string {
  const text = dump(dataset, { schema: CORE_SCHEMA, flowLevel: 2, lineWidth: -1 });
  const remarks = [
    ...describeConflicts(contested),
    ...renderStaleLines(stale),
    ...renderUnqueryableLines(unqueryable),
  ].map((line) => `# ${line}\n`);
  return text + remarks.join('') + (hidden === 0 ? '' : `# ${hidden} hidden, left out\n`);
}

/** Visible metrics of the dataset that a query cannot use yet. */
export function findUnqueryableMetrics(model: SemanticModel, dataset: string): ReadonlySet<string> {
  const metrics = [...(model.datasets.get(dataset)?.metrics.values() ?? [])];
  return new Set(
    metrics
      .filter((metric) => !metric.hidden && !isQueryable(model, metric))
      .map(({ name }) => name),
  );
}

/** One line per stale subject. */
export function renderStaleLines(stale: ReadonlyMap<string, string>): string[] {
  return [...stale].map(([subject, why]) => `stale: ${subject}: ${why}`);
}

/** One line with all names; empty if there are none. */
export function renderUnqueryableLines(unqueryable: ReadonlySet<string>): string[] {
  return unqueryable.size === 0 ? [] : [`not yet queryable: ${[...unqueryable].join(', ')}`];
}

/** A function that finds the dataset on a table of the catalog. Compares the names without case. */
export function indexDatasetsByTable(
  datasets: readonly VisibleDataset[],
  { firstSchema }: Catalog,
) {
  const key = (parts: readonly (string | undefined)[]) => JSON.stringify(parts).toLowerCase();
  const bySource = new Map(
    datasets.map((visible) => [key(splitTableName(visible.dataset.source ?? '') ?? []), visible]),
  );
  return ({ catalog, schema, table }: CatalogTable): VisibleDataset | undefined => {
    const names = [
      [catalog, schema, table],
      [schema, table],
      schema === firstSchema ? [table] : [],
    ];
    return names.map((parts) => bySource.get(key(parts))).find((dataset) => dataset !== undefined);
  };
}
