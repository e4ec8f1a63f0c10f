import { reservedWords } from '../../../../sql/scalar-functions.ts';

/** Names that MetricFlow keeps for itself. */
const metricFlowNames =
  /^(?:metric_time|nanosecond|microsecond|millisecond|second|minute|hour|day|week|month|quarter|year)$/;

/**
 * Turns any name into one that dbt allows: lower-case letters, digits and single underscores, at
 * least two characters.
 */
export function toDbtName(name: string): string {
  const plain = name
    .toLowerCase()
    .replaceAll(/_{2,}/g, '_')
    .replaceAll(/^_+|_+$/g, '');
  const isForbidden = plain.length < 2 || metricFlowNames.test(plain) || /^\d/.test(plain);
  return isForbidden ? `the_${plain}` : plain;
}

/**
 * dbt writes the names of metrics and measures into SQL without quotes, so they cannot be reserved
 * words.
 */
export function toDbtMetricName(name: string): string {
  const plain = toDbtName(name);
  return reservedWords.has(plain) ? `the_${plain}` : plain;
}
