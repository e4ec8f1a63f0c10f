import { z } from 'zod';
import { UnreadableMetric } from '../semantic/formats/metricflow/spec/metric-spec.ts';
import type { ClaimCollector, ItemPlace } from './claim-collector.ts';

/** A metric as a source has it. */
export interface MetricSource {
  /** A mapping in MetricFlow's older form. */
  readonly raw: unknown;
  /** Where the mapping stands, or one of its keys. */
  readonly place: (key?: string) => ItemPlace;
  /** Who answers for it. */
  readonly owner?:
    | { readonly text: string; readonly place: ItemPlace; readonly confidence: number }
    | undefined;
}

/** Undefined if the mapping is not valid, which becomes a problem. */
export function parseOrReport<Parsed>(
  { raw, place }: MetricSource,
  collector: ClaimCollector,
  parse: () => Parsed,
): Parsed | undefined {
  try {
    return parse();
  } catch (error) {
    const name = raw instanceof Object && 'name' in raw ? `${String(raw.name)}: ` : '';
    if (error instanceof z.ZodError) {
      const [issue] = error.issues;
      collector.addProblem(place(), `${name}${issue?.path.join('.')}: ${issue?.message}`);
    } else if (error instanceof UnreadableMetric)
      collector.addProblem(place(), `${name}${error.message}`);
    else throw error;
    return undefined;
  }
}
