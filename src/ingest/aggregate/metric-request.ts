import type { ClaimBodies } from '../../context/claims/claim.ts';
import { type AggregateRequest, aggregateRequestSchema } from './request-schema.ts';

type MetricClaimBody = ClaimBodies['metric'];

/** Keys of a metric that say nothing about its number. */
const silentKeys = new Set([
  'agg',
  'of',
  'expr',
  'where',
  'unit',
  'owner',
  'description',
  'synonyms',
]);

const kinds = { sum: 'sum', avg: 'average', count: 'rows', count_distinct: 'distinct' } as const;

/** The part of an answer that has the number of a metric. */
export interface MetricRequest {
  readonly request: AggregateRequest;
  readonly kind: (typeof kinds)[keyof typeof kinds];
  /** Undefined for a count of rows. */
  readonly field: string | undefined;
}

/**
 * The request for the number of a metric that is one count, sum or average of a column, with
 * conditions that compare columns with values. Undefined for every other metric: its formula could
 * single out a row.
 */
export function requestForMetric(
  dataset: string,
  metric: MetricClaimBody,
): MetricRequest | undefined {
  if (Object.keys(metric).some((key) => !silentKeys.has(key))) return undefined;
  const { agg, of = '', expr = '', where: condition = '' } = metric;
  const texts = [of, expr, condition];
  if (!texts.every((text) => typeof text === 'string')) return undefined;
  const { kind, field } = aggregateOf(dataset, { agg, of: texts[0], expr: texts[1] }) ?? {};
  const where = parseConditions(dataset, texts[2]);
  if (kind === undefined || where === undefined) return undefined;
  const measured = field === undefined || kind === 'rows' ? {} : { [kind]: [field] };
  const request = aggregateRequestSchema.parse({ dataset, where, ...measured });
  return { request, kind, field };
}

interface AggregateText {
  readonly agg: string | undefined;
  readonly of: string | undefined;
  readonly expr: string | undefined;
}

function aggregateOf(
  dataset: string,
  { agg, of = '', expr = '' }: AggregateText,
): Pick<MetricRequest, 'kind' | 'field'> | undefined {
  const [, name = '', inner = ''] = /^\s*(\w+)\s*\(([^()]*)\)\s*$/.exec(expr) ?? [];
  if ((agg === undefined) === (expr === '')) return undefined;
  const called = agg ?? name.toLowerCase();
  const kind = Object.entries(kinds).find(([known]) => known === called)?.[1];
  const argument = agg === undefined ? inner.trim() : of;
  // `count(x)` leaves out the rows without a value, which no part of an answer does.
  if (kind === 'rows') return ['', '*'].includes(argument) ? { kind, field: undefined } : undefined;
  const field = ownField(dataset, argument);
  return field === undefined || kind === undefined ? undefined : { kind, field };
}

/** `amount`, or `orders.amount` in orders; undefined for anything else. */
function ownField(dataset: string, text: string): string | undefined {
  const [, owner = dataset, name] = /^(?:(\w+)\.)?"?(\w+)"?$/.exec(text.trim()) ?? [];
  return owner === dataset ? name : undefined;
}

/** Conditions such as `status = 'paid' and region in ('a', 'b')`; undefined for any other. */
function parseConditions(
  dataset: string,
  where: string | undefined,
): AggregateRequest['where'] | undefined {
  if (where === undefined || where === '') return [];
  const parts = where.split(/\s+and\s+/i);
  const conditions = parts.flatMap((part) => parseCondition(dataset, part) ?? []);
  return conditions.length === parts.length && conditions.length <= 2 ? conditions : undefined;
}

const literal = String.raw`'[^']*'|-?\d+`;
const conditionPattern = new RegExp(
  String.raw`^\s*([\w."]+)\s*(=|<>|!=|in|not\s+in)\s*(${literal}|\(\s*(?:${literal})(?:\s*,\s*(?:${literal}))*\s*\))\s*$`,
  'i',
);

function parseCondition(
  dataset: string,
  text: string,
): AggregateRequest['where'][number] | undefined {
  const [, name = '', operator = '', right = ''] = conditionPattern.exec(text) ?? [];
  const field = ownField(dataset, name);
  const values = (right.match(new RegExp(literal, 'g')) ?? []).map((value) =>
    value.startsWith("'") ? value.slice(1, -1) : value,
  );
  const isList = /in$/i.test(operator);
  if (field === undefined || values.length === 0 || isList !== right.startsWith('('))
    return undefined;
  return { field, values, exclude: /^(<>|!=|not)/i.test(operator) };
}
