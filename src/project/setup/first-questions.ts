import type { ModelDataset, ModelField, SemanticModel } from '../../semantic/model/model.ts';

/** A query that a newcomer can ask: a metric, by a dimension where one fits. */
export interface FirstQuestion {
  readonly metric: string;
  readonly dimension?: string | undefined;
}

/** Questions about different datasets, the most telling first: sums before counts. */
export function proposeQuestions({ datasets }: SemanticModel): readonly FirstQuestion[] {
  const all = [...datasets.values()];
  const asked = all.flatMap((dataset) => {
    const metrics = [...dataset.metrics.values()].filter(({ hidden }) => hidden !== true);
    const metric = metrics.find(({ name }) => name !== 'count') ?? metrics[0];
    if (metric === undefined) return [];
    const question = {
      metric: `${dataset.name}.${metric.name}`,
      dimension: dimensionOf(dataset, datasets),
    };
    const isSum = metric.name !== 'count';
    return [{ question, weight: (isSum ? 100 : 0) + dataset.relationships.length }];
  });
  return asked
    .toSorted((a, b) => b.weight - a.weight)
    .slice(0, mostQuestions)
    .map(({ question }) => question);
}

const mostQuestions = 4;

/** As a person says it, and as the flag takes it: `orders.revenue by orders.status`. */
export function questionText({ metric, dimension }: FirstQuestion): string {
  return dimension === undefined ? metric : `${metric} by ${dimension}`;
}

export function parseQuestion(text: string): FirstQuestion {
  const [metric = '', dimension] = text.trim().split(/\s+by\s+/);
  return { metric, dimension };
}

/** Metrics that only the scan proposes, by their full names. */
export function proposedMeasures({ datasets }: SemanticModel): readonly string[] {
  return [...datasets.values()].flatMap(({ name, metrics }) =>
    [...metrics.values()]
      .filter(({ unreviewed }) => unreviewed === true)
      .map((metric) => `${name}.${metric.name}`),
  );
}

/** A field with few values, then one of a joined dataset, then the months. */
function dimensionOf(
  dataset: ModelDataset,
  datasets: SemanticModel['datasets'],
): string | undefined {
  const own = [...dataset.fields.values()].find(hasFewValues);
  if (own !== undefined) return `${dataset.name}.${own.name}`;
  for (const { name, to } of dataset.relationships) {
    const fields = [...(datasets.get(to)?.fields.values() ?? [])];
    const field = fields.find(hasFewValues) ?? fields.find(isTitle);
    if (field !== undefined) return `${dataset.name}.${name}.${field.name}`;
  }
  const { defaultTime } = dataset;
  return defaultTime === undefined ? undefined : `${dataset.name}.${defaultTime}.month`;
}

function hasFewValues({ values, hidden }: ModelField): boolean {
  const isList = Array.isArray(values) && values.length > 1 && values.length <= 20;
  return hidden !== true && isList;
}

function isTitle({ name, type, hidden }: ModelField): boolean {
  return hidden !== true && type === 'string' && /(?:^|_)(?:name|title|label)$/i.test(name);
}
