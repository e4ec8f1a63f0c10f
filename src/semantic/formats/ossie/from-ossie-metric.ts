import type { Dialect } from '../../../sql/dialect.ts';
import type { Fragment } from '../../../sql/fragment.ts';
import { toKtxName } from '../imported-model.ts';
import { omitKeys, type PlainObject } from '../patch.ts';
import {
  asSingleAggregate,
  textForDialect,
  tryParseFragment,
  unqualifyColumns,
} from '../sql-fragment.ts';
import {
  fromOssieExpression,
  stringOrUndefined,
  synonymsFromAiContext,
} from './expression-conversion.ts';
import type { MetricEntry } from './metric-entry.ts';
import type { OssieMetric } from './schema.ts';
import type { DatasetScope } from './to-ossie-metric.ts';

/**
 * The metric belongs to the dataset that its expression names first. Undefined if it names none, or
 * if ktx cannot use it.
 */
export function fromOssieMetric(
  { name, expression, ...metric }: OssieMetric,
  { dialect, datasets }: DatasetScope,
): MetricEntry | undefined {
  const expr = fromOssieExpression(expression, dialect);
  const text = textForDialect(expr, dialect);
  if (text === undefined) return undefined;
  const percentile = percentileCall.exec(text);
  // ktx has no WITHIN GROUP: parse the ordered expression as the argument of another aggregate.
  const fragment = tryParseFragment(percentile ? `max(${percentile[3]})` : text, dialect);
  if (fragment === undefined || fragment.aggregates.length === 0) return undefined;
  const dataset = firstDataset(fragment, datasets);
  if (dataset === undefined || usesRolePath(fragment, datasets)) return undefined;
  const definition =
    typeof expr === 'string' ? definitionOf(fragment, { dialect, dataset, percentile }) : { expr };
  return {
    name: toKtxName(name),
    dataset,
    definition: [definition],
    ...omitKeys({
      description: stringOrUndefined(metric['description']),
      synonyms: synonymsFromAiContext(metric['ai_context']),
    }),
  };
}

/** As `toOssieMetric` writes a percentile: its kind, its fraction, then the ordered expression. */
const percentileCall = /^PERCENTILE_(CONT|DISC)\(([\d.]+)\) WITHIN GROUP \(ORDER BY ([^]+)\)$/;

/** The only dataset of the model needs no name. */
function firstDataset(
  { references }: Fragment,
  datasets: DatasetScope['datasets'],
): string | undefined {
  const named = references.flatMap(({ parts: [first = '', ...rest] }) =>
    rest.length === 1 && datasets.has(first) ? [first] : [],
  );
  return named[0] ?? (datasets.size === 1 ? [...datasets.keys()][0] : undefined);
}

function usesRolePath({ references }: Fragment, datasets: DatasetScope['datasets']): boolean {
  return references.some(({ parts }) => parts.length > 1 && !datasets.has(parts[0] ?? ''));
}

/** `agg` and `of` if the whole expression is one aggregate, else `expr`. */
function definitionOf(
  fragment: Fragment,
  metric: { dialect: Dialect; dataset: string; percentile: RegExpExecArray | null },
): PlainObject {
  const call = asSingleAggregate(fragment);
  const span = call?.argument;
  const argument =
    span && tryParseFragment(fragment.text.slice(span.start, span.end), metric.dialect);
  if (call === undefined || argument === undefined) return { expr: fragment.text };
  const of = unqualifyColumns(argument, metric.dataset);
  if (metric.percentile !== null) {
    const [, kind, fraction] = metric.percentile;
    return {
      agg: kind === 'DISC' ? 'percentile_disc' : 'percentile',
      of,
      fraction: Number(fraction),
    };
  }
  return omitKeys({ agg: call.function, of, fraction: call.fraction });
}
