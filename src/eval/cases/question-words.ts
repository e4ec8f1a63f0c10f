import type { Dataset } from '../../semantic/model/dataset.ts';

type FileMetric = NonNullable<Dataset['metrics']>[number];

/** Columns of which nobody wants a sum or an average, whatever their type. */
const identifying =
  /(?:^|_)(?:id|ids|key|keys|code|codes|no|nr|num|number|zip|zipcode|postcode|phone|year|month|day|lat|latitude|lon|lng|longitude|uuid|hash|version|rank|position|index)$/i;

/** True for a metric that a person asks for: no count of rows, and no arithmetic of ids. */
export function isAskedFor(metric: FileMetric, { primary_key: key = [] }: Dataset): boolean {
  const { name, agg, of, where, hidden } = metric;
  if (hidden === true || (name === 'count' && agg === 'count' && where === undefined)) return false;
  const column = typeof of === 'string' ? of : '';
  const isId = key.includes(column) || identifying.test(column);
  return !(isId && agg !== undefined && !agg.startsWith('count'));
}

/**
 * A metric as people say it, with its article: `the number of urgent tickets`, `the total amount of
 * orders`. `isAmbiguous`: another dataset has one of the same words.
 */
export function metricWords(
  metric: FileMetric,
  { dataset, isAmbiguous }: { readonly dataset: string; readonly isAmbiguous: boolean },
): string {
  const { name, agg, synonyms: [label] = [] } = metric;
  const said = toWords(label ?? name);
  const isCounted = agg === 'count' || agg === 'count_distinct';
  const isNamedCount = /^(?:number|count|no) |\b(?:count|number|rate|share)$/.test(said);
  const words = isCounted && !isNamedCount ? `number of ${said}` : said;
  // What is named for a column alone says nothing of whose it is.
  const isGeneral = /^(?:total|sum|average|avg|mean|min|max|median) \S+$/.test(said);
  const spoken = words.replace(/^avg /, 'average ').replace(/^sum /, 'total ');
  const owner = toWords(dataset.replace(/^.*__/, ''));
  return `the ${spoken}${isAmbiguous || isGeneral ? ` of ${owner}` : ''}`;
}

/** `order_total`, `orderTotal`: order total. A label keeps its capitals where it is an acronym. */
function toWords(name: string): string {
  return name
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .replaceAll(/[_\s]+/g, ' ')
    .trim()
    .replaceAll(/\p{Lu}\p{Ll}+/gu, (word) => word.toLowerCase());
}
