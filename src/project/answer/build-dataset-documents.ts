import { stepOf } from '../../sql/names/table-layer.ts';
import { usageWeight } from '../../context/usage/usage.ts';
import { subjects } from '../../context/claims/claim.ts';
import type { DocumentKind, SearchDocument } from '../../search/documents.ts';
import { type Dataset, declaredValues } from '../../semantic/model/dataset.ts';
import { ownSpellings } from '../../semantic/resolve/names/own-spellings.ts';
import type { VisibleDataset } from './visible-datasets.ts';

/** The search documents of a dataset and of its metrics, segments, fields and relationships. */
export function buildDatasetDocuments(visible: VisibleDataset): SearchDocument[] {
  const { dataset, unqueryable } = visible;
  const { metrics = [], segments = [], fields = [] } = dataset;
  const { row_metrics: rowMetrics = [], conformed_dimensions: conformed = [] } = dataset;
  const parametersIn = (item: object) => describeParameters(item, dataset);
  const documents = [
    datasetDocument(visible),
    ...metrics.map((metric) => {
      const support = unqueryable.has(metric.name) ? ['not yet queryable'] : [];
      const review = metric.unreviewed === true ? ['unreviewed'] : [];
      const details = [...listOf(metric.unit), ...parametersIn(metric), ...support, ...review];
      const column = fields.find(({ name }) => name === metric.of);
      const context = ownSpellings((column && columnOf(column)) ?? '');
      return partDocument(visible, 'metric', { ...metric, details, context });
    }),
    ...segments.map((segment) =>
      partDocument(visible, 'segment', { ...segment, details: parametersIn(segment) }),
    ),
    ...fields.map((field) => {
      const values = (declaredValues(field) ?? []).slice(0, maxIndexedValues).map(String);
      const own = ownSpellings(columnOf(field) ?? '');
      const details = [...own.slice(0, 1), ...listOf(field.type), ...parametersIn(field)];
      const context = [...own, ...values];
      return partDocument(visible, 'field', { ...field, details, context });
    }),
    ...rowMetrics.map((field) =>
      partDocument(visible, 'field', { ...field, details: listOf(field.type) }),
    ),
    ...conformed.map((dimension) =>
      partDocument(visible, 'field', { ...dimension, details: ['conformed dimension'] }),
    ),
    ...relationshipDocuments(visible),
  ];
  const used = 1 + mostFromUse * usageWeight(visible.usage?.runs);
  const prior = Number((datasetPrior(dataset) * used).toFixed(3));
  return documents.map((document) => ({ ...markDocument(document, visible), prior }));
}

/** What people query all day counts this much more than what nobody queries. */
const mostFromUse = 0.3;

/**
 * How likely people ask for the dataset: those at the end of a transformation before the steps that
 * lead to them, and those with metrics of their own before others.
 */
function datasetPrior(file: Dataset): number {
  const { dataset, source = '', layer: ownLayer, metrics = [], relationships = [] } = file;
  const layers = [
    dataset,
    ...source
      .split('.')
      .slice(0, -1)
      .map((schema) => `${schema}_`),
  ];
  const layer =
    ownLayer === undefined
      ? Math.min(...layers.map((name) => layerPriors[stepOf(name)] ?? 0.6))
      : (layerPriors[ownLayer] ?? 0.6);
  // The count of rows is a metric that every dataset has.
  const uses = Math.min(6, Math.max(0, metrics.length - 1) + relationships.length);
  const isMart = ownLayer === 'mart' || (ownLayer === undefined && martName.test(dataset));
  return Number((layer * (isMart ? 1.1 : 1) * (1 + 0.03 * uses)).toFixed(3));
}

/** By the layer, or the step that a name tells; those that are not listed are steps on the way. */
const layerPriors: Readonly<Record<string, number>> = {
  '': 1,
  mart: 1,
  int: 0.75,
  intermediate: 0.75,
  raw: 0.5,
  src: 0.5,
  source: 0.5,
};
const martName = /^(?:dim|fct|fact|mart|rpt|agg)_/;

const maxIndexedValues = 50;

interface DatasetPart {
  readonly name: string;
  readonly synonyms?: SearchDocument['synonyms'];
  readonly description?: string | undefined;
  readonly details: readonly string[];
  /** More words to find it by. */
  readonly context?: readonly string[];
}

function partDocument(
  { connection, path, dataset }: VisibleDataset,
  kind: DocumentKind,
  { name, synonyms, description, details, context = [] }: DatasetPart,
): SearchDocument {
  return {
    kind,
    connection,
    subject: `${kind}:${connection}.${dataset.dataset}.${name}`,
    name,
    parent: dataset.dataset,
    synonyms,
    description,
    context: [dataset.dataset, ...context],
    file: path,
    ...(details.length > 0 && { detail: details.join(', ') }),
  };
}

/** The column whose name is written in quotes, because it is no name in queries. */
function columnOf({ expr }: NonNullable<Dataset['fields']>[number]): string | undefined {
  if (typeof expr !== 'string' || !/^"(?:[^"]|"")+"$/.test(expr)) return undefined;
  return expr.slice(1, -1).replaceAll('""', '"');
}

/**
 * Found by its source, its tags, and the names, descriptions and values of its parameters as well.
 */
function datasetDocument(visible: VisibleDataset): SearchDocument {
  const { connection, dataset } = visible;
  const { source = '', tags = [], parameters = [] } = dataset;
  const parameterWords = parameters.flatMap(({ name, description, values = [] }) => [
    name,
    ...listOf(description),
    ...values.map(String),
  ]);
  const own = ownSpellings(source);
  const details = own.slice(0, 1);
  return {
    ...partDocument(visible, 'dataset', { ...dataset, name: dataset.dataset, details }),
    subject: subjects.dataset(connection, dataset.dataset),
    context: [source, ...own, ...tags, ...listOf(dataset.owner), ...parameterWords],
    members: memberTexts(dataset),
  };
}

/** The words of the parts, by which the dataset is found too. */
function memberTexts({ fields = [], metrics = [], segments = [] }: Dataset): readonly string[] {
  return [...fields, ...metrics, ...segments].flatMap(({ name, description, synonyms = [] }) => [
    name,
    ...synonyms,
    ...listOf(description),
  ]);
}

function relationshipDocuments(visible: VisibleDataset): SearchDocument[] {
  const { connection, dataset } = visible;
  return (dataset.relationships ?? []).map(({ to, on, role = to, description }) => {
    const columns = typeof on === 'string' ? [on] : Object.keys(on);
    const part = {
      name: role,
      description,
      details: [`refers to ${to}`],
      context: [to, ...columns],
    };
    return {
      ...partDocument(visible, 'relationship', part),
      subject: subjects.relationship(connection, dataset.dataset, columns),
    };
  });
}

/** Adds `contested` and `stale`. */
function markDocument(
  document: SearchDocument,
  { contested, stale }: VisibleDataset,
): SearchDocument {
  return {
    ...document,
    ...(contested.some(({ subject }) => subject === document.subject) && { contested: true }),
    ...(stale.has(document.subject) && { stale: true }),
  };
}

/**
 * The parameters in the item's own text, each with its choices. Metrics that it uses may take more.
 */
function describeParameters(item: object, { parameters = [] }: Dataset): readonly string[] {
  const text = JSON.stringify(item);
  const isNamed = (name: string) => new RegExp(`\\bparam\\.${name}\\b`).test(text);
  return parameters
    .filter(({ name }) => isNamed(name))
    .map(({ name, default: value, values }) => {
      const choices = values === undefined ? '' : ` (${values.join(', ')})`;
      return `${value === undefined ? 'needs' : 'takes'} parameter ${name}${choices}`;
    });
}

function listOf<Item>(item: Item | undefined): readonly Item[] {
  return item === undefined ? [] : [item];
}
