import { bodySchemas } from '../../../context/claims/claim.ts';
import { parseSubject } from '../../../context/claims/subject.ts';
import type { Conflict } from '../../../context/compile/conflicts.ts';
import { UserError } from '../../../lib/error.ts';
import type { SentValues } from '../../../llm/egress/sent-values.ts';
import {
  type RowAggregationContext,
  type AggregateGroup,
  aggregateRows,
} from '../../aggregate/aggregate-rows.ts';
import { type MetricRequest, requestForMetric } from '../../aggregate/metric-request.ts';
import type { ComparedNumber } from '../compare-metrics.ts';

/** The number of a version of a metric, as far as a model may see it. */
export interface ModelNumber extends ComparedNumber {
  /** `value` as the model sees it, rounded. Without it the model sees only `failure`. */
  readonly shown?: number | undefined;
  /** What the ledger has of `shown`. */
  readonly sent?: SentValues | undefined;
}

const keptHere =
  'its number stays on this machine: it is no plain count, sum or average of fields that may be shown. A person sees it in ktx review';

/**
 * The numbers of the versions of a metric that a model may see and compare: those of plain
 * aggregates over at least five rows. A formula of a page could otherwise single out a row, and its
 * number, or whether it equals another, would tell about that row.
 */
export async function compareForModel(
  { subject, variants }: Conflict,
  numbers: ReadonlyMap<string, ComparedNumber>,
  context: RowAggregationContext,
): Promise<ReadonlyMap<string, ModelNumber>> {
  const compared = new Map<string, ModelNumber>();
  for (const { id, says } of variants) {
    const number = numbers.get(id);
    const { connection = '', dataset = '', name: column = '' } = parseSubject(subject) ?? {};
    const definition = bodySchemas.metric.safeParse(says).data;
    const asked = definition && requestForMetric(dataset, definition);
    const isComputed = number?.value !== undefined && number.value !== null;
    const shown = asked && isComputed ? await discloseMetric(asked, context) : undefined;
    const sent = { connection, source: dataset, column, kind: 'metric', count: 1 } as const;
    compared.set(id, shown === undefined ? { failure: keptHere } : { ...number, shown, sent });
  }
  return compared;
}

/** Undefined if the number is withheld. */
async function discloseMetric(
  { request, kind, field }: MetricRequest,
  context: RowAggregationContext,
): Promise<number | undefined> {
  try {
    const { groups } = await aggregateRows(request, context);
    const [group] = groups;
    const disclosed = group && numberIn(group, { kind, field });
    return typeof disclosed === 'number' ? disclosed : undefined;
  } catch (error) {
    if (!(error instanceof UserError) || context.signal.aborted) throw error;
    return undefined;
  }
}

function numberIn(
  group: AggregateGroup,
  { kind, field = '' }: Pick<MetricRequest, 'kind' | 'field'>,
): number | string | undefined {
  return kind === 'rows' ? group.rows : group[kind]?.[field];
}
