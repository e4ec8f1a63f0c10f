import { subjects } from '../context/claim.ts';
import type { DocumentKind, SearchDocument } from '../search/documents.ts';
import type { Dataset, MetricDefinition as Metric } from '../semantic/dataset.ts';

interface Named {
  readonly name: string;
  readonly description?: string | undefined;
  readonly synonyms?: readonly string[] | undefined;
}

/** What can be found of a dataset; what is hidden cannot. */
export function datasetDocuments(connection: string, dataset: Dataset, file: string): SearchDocument[] {
  const parent = dataset.dataset;
  const part = ([kind, subject]: readonly [DocumentKind, string], { name, synonyms, description }: Named, more: object = {}) => {
    return { connection, parent, file, kind, subject, name, synonyms, description, context: [parent], ...more };
  };
  const own = subjects.dataset(connection, parent);
  const { source = '', tags = [], metrics = [], segments = [], fields = [], relationships = [] } = dataset;
  return [
    part(['dataset', own], { ...dataset, name: parent }, { context: [source, ...tags] }),
    ...metrics
      .filter(isVisible)
      .map((metric) => part(['metric', subjects.metric(connection, parent, metric.name)], metric, { detail: metric.unit })),
    ...segments.map((segment) => part(['segment', `segment:${connection}.${parent}.${segment.name}`], segment)),
    ...fields.filter(isVisible).map((field) => {
      const context = [parent, ...(field.values ?? []).slice(0, 50).map(String)];
      return part(['field', subjects.field(connection, parent, field.name)], field, { context, detail: field.type });
    }),
    ...relationships.map((link) => {
      const columns = typeof link.on === 'string' ? [link.on] : Object.keys(link.on);
      const named = { name: link.role ?? link.to, description: link.description };
      return part(['relationship', subjects.relationship(connection, parent, columns)], named, {
        context: [parent, link.to, ...columns],
        detail: `${parent} (${columns.join(', ')}) refers to ${link.to}`,
      });
    }),
  ];
}

/** Metrics of a connection that belong to no dataset. */
export function spanningDocuments(connection: string, metrics: readonly Metric[], file: string): SearchDocument[] {
  return metrics.filter(isVisible).map(({ name, synonyms, description, unit: detail }) => {
    return { kind: 'metric', connection, subject: `metric:${connection}.${name}`, name, parent: '', file, synonyms, description, detail };
  });
}

function isVisible(item: { readonly hidden?: boolean | undefined }): boolean {
  return item.hidden !== true;
}
