import { z } from 'zod';
import type { Measure } from './semantic-model-schema.ts';

/** A metric that another metric uses, or a measure, which the older form allows in its place. */
export interface MetricInput {
  readonly name: string;
  readonly isMeasure: boolean;
  readonly alias: string | undefined;
  readonly filters: readonly string[];
  readonly offsetWindow: string | undefined;
  readonly offsetToGrain: string | undefined;
  readonly fillNullsWith: number | undefined;
  readonly joinsTimeSpine: boolean;
}

/** How a metric is computed, by its type. */
export type MetricShape =
  | {
      readonly kind: 'simple';
      /** A measure by its name, or the metric's own measure with its semantic model. */
      readonly measure: MetricInput | (Measure & { readonly model: string });
    }
  | { readonly kind: 'ratio'; readonly numerator: MetricInput; readonly denominator: MetricInput }
  | { readonly kind: 'derived'; readonly expr: string; readonly inputs: readonly MetricInput[] }
  | {
      readonly kind: 'cumulative';
      readonly of: MetricInput;
      readonly window: string | undefined;
      readonly grainToDate: string | undefined;
      readonly periodAgg: string;
    }
  | {
      readonly kind: 'conversion';
      readonly base: MetricInput;
      readonly conversion: MetricInput;
      readonly entity: string;
      readonly window: string | undefined;
      readonly calculation: string;
      readonly constants: readonly (readonly [base: string, conversion: string])[];
    };

/** A metric of MetricFlow, read and normalized. */
export interface MetricSpec {
  readonly name: string;
  readonly label: string | undefined;
  readonly description: string | undefined;
  readonly filters: readonly string[];
  readonly isPrivate: boolean;
  /** The value of a simple metric where it would be NULL. */
  readonly fillNullsWith: number | undefined;
  /** True if a simple metric shows every period of the time spine. */
  readonly joinsTimeSpine: boolean;
  readonly timeGranularity: string | undefined;
  /**
   * Options for which ktx has no equivalent, as `key: value`. They do not make the metric
   * unreadable.
   */
  readonly unsupportedOptions: readonly string[];
  readonly shape: MetricShape;
}

/** Why a metric cannot be read or mapped. The message completes “left out: …”. */
export class UnreadableMetric extends Error {}

/** The simple metric over a measure. */
export function metricOfMeasure(name: string): MetricSpec {
  const measure = {
    name,
    isMeasure: true,
    alias: undefined,
    filters: [],
    offsetWindow: undefined,
    offsetToGrain: undefined,
    fillNullsWith: undefined,
    joinsTimeSpine: false,
  };
  return {
    name,
    label: undefined,
    description: undefined,
    filters: [],
    isPrivate: false,
    fillNullsWith: undefined,
    joinsTimeSpine: false,
    timeGranularity: undefined,
    unsupportedOptions: [],
    shape: { kind: 'simple', measure },
  };
}

const ktxMetaSchema = z.object({
  meta: z.object({ ktx: z.record(z.string(), z.unknown()) }),
});

/** What ktx stored for itself under `config.meta.ktx` when it wrote the file. */
export function ktxMeta({
  config,
}: {
  readonly [key: string]: unknown;
}): Readonly<Record<string, unknown>> {
  return ktxMetaSchema.safeParse(config).data?.meta.ktx ?? {};
}
