import { randomBytes } from 'node:crypto';

type AttributeValue = string | number | boolean;
export type AttributeValues = Readonly<Record<string, AttributeValue | undefined>>;

/** A span in the JSON form of OTLP. */
export interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  /** 1 internal, 3 client. */
  readonly kind: 1 | 3;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: object }[];
  /** Code 2: failed. */
  readonly status: { readonly code: 0 | 2; readonly message?: string };
}

/** The span that others are below. */
export interface SpanParent {
  readonly traceId: string;
  readonly spanId: string;
}

export const newTraceId = (): string => randomBytes(16).toString('hex');
export const newSpanId = (): string => randomBytes(8).toString('hex');

/** Both in milliseconds since 1970. */
export function spanTimes(
  startedAt: number,
  endedAt = Date.now(),
): Pick<OtlpSpan, 'startTimeUnixNano' | 'endTimeUnixNano'> {
  return { startTimeUnixNano: `${startedAt}000000`, endTimeUnixNano: `${endedAt}000000` };
}

/** Attributes without a value are left out. */
export function otlpAttributes(values: AttributeValues): OtlpSpan['attributes'] {
  return Object.entries(values).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: otlpValue(value) }],
  );
}

function otlpValue(value: AttributeValue): object {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}
