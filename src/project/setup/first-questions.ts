import type {
  ModelDataset,
  ModelField,
  ModelMetric,
  SemanticModel,
} from '../../semantic/model/model.ts';

/** A query that a newcomer can ask: a metric, by a dimension where one fits. */
export interface FirstQuestion {
  readonly metric: string;
  readonly dimension?: string | undefined;
}

/** The values of fields, by `dataset.field`; only of fields whose values are all known. */
type KnownValues = ReadonlyMap<string, readonly string[]>;

/** Questions about different datasets, the most telling first: sums before counts. */
export function proposeQuestions(
  { datasets }: SemanticModel,
  known: KnownValues,
): readonly FirstQuestion[] {
  const all = [...datasets.values()];
  const asked = all.flatMap((dataset) => {
    const metrics = [...dataset.metrics.values()].filter(({ hidden }) => hidden !== true);
    const metric = metrics.find(({ name }) => name !== 'count') ?? metrics[0];
    if (metric === undefined) return [];
    const question = {
      metric: `${dataset.name}.${metric.name}`,
      dimension: dimensionOf(withoutFiltered(dataset, metric), datasets, known),
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

/** By a field that the metric itself filters, all groups but its own would be empty. */
function withoutFiltered(dataset: ModelDataset, { where }: ModelMetric): ModelDataset {
  const filtered = new Set(where?.references.map(({ parts }) => parts.at(-1)?.toLowerCase()));
  const fields = [...dataset.fields].filter(([name]) => !filtered.has(name.toLowerCase()));
  return { ...dataset, fields: new Map(fields) };
}

/** A field with few values, then one of a joined dataset, then the months, then a name. */
function dimensionOf(
  dataset: ModelDataset,
  datasets: SemanticModel['datasets'],
  known: KnownValues,
): string | undefined {
  const own = fieldWithFewValues(dataset, known);
  if (own !== undefined) return `${dataset.name}.${own.name}`;
  const joined = dataset.relationships.flatMap(({ name, to }) => {
    const target = datasets.get(to);
    return target === undefined ? [] : [{ name, target }];
  });
  const find = (choose: (target: ModelDataset) => ModelField | undefined): string | undefined => {
    for (const { name, target } of joined) {
      const field = choose(target);
      if (field !== undefined) return `${dataset.name}.${name}.${field.name}`;
    }
    return undefined;
  };
  const { defaultTime } = dataset;
  return (
    find((target) => fieldWithFewValues(target, known)) ??
    (defaultTime === undefined ? undefined : `${dataset.name}.${defaultTime}.month`) ??
    find((target) => [...target.fields.values()].find(isTitle))
  );
}

/** By what its file declares, or else by what the scan has seen. Never a field of free text. */
function fieldWithFewValues(
  { name: dataset, fields }: ModelDataset,
  known: KnownValues,
): ModelField | undefined {
  const valuesOf = ({ name }: ModelField): readonly string[] =>
    known.get(`${dataset}.${name}`) ?? [];
  const isFew = ({ length }: readonly unknown[]): boolean => length > 1 && length <= mostValues;
  const shown = [...fields.values()].filter(
    (field) => field.hidden !== true && !isFreeText(field.name, valuesOf(field)),
  );
  const [fewest] = shown
    .filter((field) => isFew(valuesOf(field)))
    .toSorted((a, b) => valuesOf(a).length - valuesOf(b).length);
  return shown.find(({ values }) => isFew(Array.isArray(values) ? values : [])) ?? fewest;
}

const mostValues = 20;

const textNames =
  /(?:^|_)(?:notes?|comments?|memos?|remarks?|descriptions?|desc|messages?|texts?|body|reasons?|details?|notiz(?:en)?|bemerkung(?:en)?|kommentare?|beschreibung(?:en)?|commentaires?|remarques?)(?:_|$)/i;

/** What people write in sentences groups nothing. */
function isFreeText(name: string, values: readonly string[]): boolean {
  const isSentence = (value: string) => value.length > 40 || value.trim().split(/\s+/).length > 4;
  return textNames.test(name) || values.some(isSentence);
}

function isTitle({ name, type, hidden }: ModelField): boolean {
  return hidden !== true && type === 'string' && /(?:^|_)(?:name|title|label)$/i.test(name);
}
