import { type TimeGrain, timeGrains } from '../../../../sql/dialect.ts';
import {
  type MetricInput,
  type MetricShape,
  type MetricSpec,
  UnreadableMetric,
} from '../spec/metric-spec.ts';
import type { MetricBody, MetricMapping } from './metric-mapping.ts';
import { parsePeriod } from './parse-period.ts';

/** `join_to_timespine`, if the metric has it. */
export function joinToTimeSpine(
  { hasTimeSpine }: MetricMapping,
  { joinsTimeSpine }: Pick<MetricSpec, 'joinsTimeSpine'>,
): Pick<MetricBody, 'join_to_timespine'> {
  if (!joinsTimeSpine) return {};
  if (hasTimeSpine) return { join_to_timespine: true };
  throw new UnreadableMetric(
    'join_to_timespine shows every period of the time spine, and ktx knows no time spine of this project',
  );
}

type CumulativeShape = Extract<MetricShape, { kind: 'cumulative' }>;

/** The options of a cumulative metric that read the time spine; none without a time spine. */
export function cumulativeOverSpine(
  { hasTimeSpine }: MetricMapping,
  { periodAgg, grain }: CumulativeShape & { readonly grain: string | undefined },
): { readonly cumulative: Partial<MetricBody['cumulative']>; readonly body: MetricBody } {
  if (!hasTimeSpine) {
    if (periodAgg === 'first') return { cumulative: {}, body: {} };
    throw new UnreadableMetric(
      `period_agg: ${periodAgg} needs a time spine, and ktx knows none of this project`,
    );
  }
  const period_agg = (['first', 'last', 'average'] as const).find((name) => name === periodAgg);
  if (period_agg === undefined)
    throw new UnreadableMetric(`ktx does not know the period_agg ${periodAgg}`);
  return {
    cumulative: { over_time_spine: true, period_agg },
    body: grain === undefined ? {} : { time_granularity: requireGrain(grain) },
  };
}

/** How far back an input reads: over the time spine if there is one. */
export function offsetBody(
  { hasTimeSpine }: MetricMapping,
  { name, offsetWindow, offsetToGrain }: MetricInput,
): Omit<NonNullable<MetricBody['offset']>, 'of'> {
  const over = hasTimeSpine ? { over_time_spine: true as const } : {};
  if (offsetToGrain === undefined) return { by: parsePeriod(offsetWindow ?? ''), ...over };
  if (!hasTimeSpine)
    throw new UnreadableMetric(
      `offset_to_grain: ${offsetToGrain} of ${name} needs a time spine, and ktx knows none of this project`,
    );
  return { to_grain: requireGrain(offsetToGrain), ...over };
}

function requireGrain(text: string): TimeGrain {
  const grain = timeGrains.find((candidate) => candidate === text.toLowerCase());
  if (grain === undefined) throw new UnreadableMetric(`ktx does not know the period ${text}`);
  return grain;
}

/**
 * Throws if a filter of the metric, or of one that it is made of, is about a time, and any of them
 * reads the time spine: MetricFlow applies it to the spine, ktx would apply it to the rows.
 */
export function checkTimeFilters(mapping: MetricMapping, spec: MetricSpec): void {
  if (!mapping.hasTimeSpine) return;
  const specs = specsBehind(mapping, spec, []);
  const inputs = specs.flatMap(inputsOf);
  const readsSpine =
    specs.some(({ shape, joinsTimeSpine }) => shape.kind === 'cumulative' || joinsTimeSpine) ||
    inputs.some(
      ({ offsetWindow, offsetToGrain, joinsTimeSpine }) =>
        (offsetWindow ?? offsetToGrain) !== undefined || joinsTimeSpine,
    );
  if (!readsSpine) return;
  const times = mapping.models.flatMap(({ spec: { dimensions } }) =>
    dimensions.filter(({ type }) => type === 'time').map(({ name }) => name),
  );
  const filter = [...specs, ...inputs]
    .flatMap(({ filters }) => filters)
    .find((text) => {
      const names = text.split(/\W+|__/);
      return ['metric_time', 'TimeDimension', ...times].some((name) => names.includes(name));
    });
  if (filter === undefined) return;
  throw new UnreadableMetric(`it reads the time spine, and its filter is about a time: ${filter}`);
}

/** How a metric can differ from MetricFlow, because ktx knows no time spine of the project. */
export function notesWithoutSpine(
  spec: MetricSpec,
): readonly { readonly name: string; readonly note: string }[] {
  const { name, shape } = spec;
  const notes: string[] = [];
  if (shape.kind === 'cumulative')
    notes.push(
      'ktx knows no time spine of this project, so a cumulative metric shows only periods that have rows, and a longer period shows the total at its end',
    );
  const isOffsetByMonths = inputsOf(spec).some(({ offsetWindow = '' }) =>
    /month|quarter|year/.test(offsetWindow),
  );
  if (isOffsetByMonths)
    notes.push(
      'ktx knows no time spine of this project, so an offset by months moves each row once: the last days of a month can differ from MetricFlow',
    );
  return notes.map((note) => ({ name, note }));
}

function specsBehind(
  mapping: MetricMapping,
  spec: MetricSpec,
  stack: readonly string[],
): readonly MetricSpec[] {
  if (stack.includes(spec.name)) return [];
  const behind = inputsOf(spec).flatMap(({ name, isMeasure }) => {
    const input = isMeasure ? undefined : mapping.specs.get(name);
    return input === undefined ? [] : specsBehind(mapping, input, [...stack, spec.name]);
  });
  return [spec, ...behind];
}

function inputsOf({ shape }: MetricSpec): readonly MetricInput[] {
  switch (shape.kind) {
    case 'simple':
      return 'agg' in shape.measure ? [] : [shape.measure];
    case 'ratio':
      return [shape.numerator, shape.denominator];
    case 'derived':
      return shape.inputs;
    case 'cumulative':
      return [shape.of];
    case 'conversion':
      return [shape.base, shape.conversion];
  }
  return shape satisfies never;
}
