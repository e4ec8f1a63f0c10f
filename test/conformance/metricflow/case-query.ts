import { z } from 'zod';
import { querySchema, type SemanticQuery } from '../../../src/semantic/query/query.ts';
import { grainOfTimes, type Manifest } from './manifest.ts';

const names = z
  .array(z.string())
  .nullish()
  .transform((list) => list ?? []);

/** A query of MetricFlow with the SQL that gives its rows. */
export const caseSchema = z.looseObject({
  name: z.string(),
  model: z.string(),
  metrics: names,
  group_bys: names,
  group_by_objs: z
    .array(
      z.looseObject({
        name: z.string(),
        grain: z.string().nullish(),
        date_part: z.string().nullish(),
      }),
    )
    .nullish()
    .transform((list) => list ?? []),
  where: z.string().nullish(),
  time_constraint: z.tuple([z.string(), z.string()]).nullish(),
  order_bys: names,
  limit: z.number().nullish(),
  check: z.string(),
});
export type MetricflowCase = z.infer<typeof caseSchema>;

/** Why ktx cannot ask for the rows of a case. */
export class Inexpressible extends Error {}

/** A column of the result: as ktx names it in the query, and as MetricFlow names it in its rows. */
interface ResultColumn {
  readonly ktx: string;
  readonly metricflow: string;
}

export interface CaseQuery {
  readonly query: SemanticQuery;
  readonly columns: readonly ResultColumn[];
}

const knownKeys = [
  ...Object.keys(caseSchema.shape),
  'description',
  'file',
  'where_filter',
  'required_features',
  'check_order',
  'min_max_only',
];
const grains = ['second', 'minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'];

const datePartNames: Readonly<Record<string, string>> = {
  extract_year: 'year_number',
  extract_quarter: 'quarter_of_year',
  extract_month: 'month_of_year',
  extract_day: 'day_of_month',
  extract_dow: 'day_of_week',
  extract_doy: 'day_of_year',
};

/** The query of a case for ktx. Throws `Inexpressible` with the reason. */
export function caseQuery(one: MetricflowCase, manifest: Manifest): CaseQuery {
  const unknownKey = Object.keys(one).find(
    (key) => !knownKeys.includes(key) && one[key] !== undefined,
  );
  if (unknownKey === 'apply_group_by') throw new Inexpressible('rows that are not grouped');
  if (unknownKey !== undefined) throw new Inexpressible(`the option ${unknownKey}`);
  if (one.min_max_only === true) return minMaxQuery(one, manifest);
  checkMetrics(one, manifest);
  const groups = [
    ...one.group_bys.map((path) => ({ path, grain: undefined })),
    ...one.group_by_objs.map(({ name, grain, date_part }) =>
      date_part
        ? { path: `${name}__extract_${date_part}`, grain: undefined }
        : { path: name, grain: grain ?? undefined },
    ),
  ].map(({ path, grain }) => groupColumn({ one, manifest }, path, grain));
  const dimensions = groups.map(({ ktx }) => ktx);
  const where = [
    ...(one.where ? [conditionSql(one.where, { one, manifest, groups })] : []),
    ...timeConditions(one, manifest, dimensions),
  ];
  const query = querySchema.parse({
    metrics: one.metrics,
    dimensions,
    where,
    order_by: one.order_bys.map((item) => orderItem(item, { one, manifest })),
    limit: one.limit ?? undefined,
    skip_empty: one.metrics.length > 0,
  });
  const metrics = one.metrics.map((name) => ({ ktx: name, metricflow: name }));
  return { query, columns: [...groups, ...metrics] };
}

/** The smallest and the greatest value of each dimension: metrics that are written in the query. */
function minMaxQuery(one: MetricflowCase, manifest: Manifest): CaseQuery {
  const { metrics, where, time_constraint: constraint, group_bys: paths } = one;
  if (metrics.length > 0 || constraint || paths.length === 0)
    throw new Inexpressible('the smallest and the greatest value of a dimension of metrics');
  const columns = paths.flatMap((path) => {
    const isMetricTime = path === 'metric_time';
    const group = groupColumn({ one, manifest }, path, isMetricTime ? 'day' : undefined);
    const time = group.ktx.split('.').slice(0, -1).join('.');
    const field = isMetricTime ? manifest.spineTime : time;
    return ['min', 'max'].map((name) => ({
      ktx: `${name}(${field})`,
      metricflow: `${group.metricflow}__${name}`,
    }));
  });
  const conditions = where ? [conditionSql(where, { one, manifest, groups: [] })] : [];
  const query = querySchema.parse({ metrics: columns.map(({ ktx }) => ktx), where: conditions });
  return { query, columns };
}

/** An approximate percentile has no exact rows to compare. */
function checkMetrics(one: MetricflowCase, manifest: Manifest): void {
  for (const name of one.metrics) {
    for (const metric of manifest.metricsBehind(name)) {
      const text = JSON.stringify(metric.measures.map(({ agg_params }) => agg_params));
      if (/"use_approximate_percentile":true/.test(text))
        throw new Inexpressible('an approximate percentile');
    }
  }
}

function groupColumn(
  { one, manifest }: CaseContext,
  path: string,
  givenGrain: string | undefined,
): ResultColumn {
  const parts = path.toLowerCase().split('__');
  const last = parts.at(-1) ?? '';
  const isGrain = grains.includes(last) || manifest.customGrains.has(last) || last in datePartNames;
  const ownGrain = isGrain && parts.length > 1 ? last : undefined;
  const field = ownGrain === undefined ? parts : parts.slice(0, -1);
  const grain = givenGrain ?? ownGrain ?? grainOfTimes(manifest, field, one.metrics);
  const suffix = grain === undefined ? [] : [grain];
  const metricflow = [...field, ...suffix].join('__');
  const period = suffix.map((name) => datePartNames[name] ?? name);
  if (field.length > 1 || field[0] === 'metric_time')
    return { ktx: [...field, ...period].join('.'), metricflow };
  return { ktx: manifest.entityField(field[0] ?? '', one.metrics), metricflow };
}

interface CaseContext {
  readonly one: MetricflowCase;
  readonly manifest: Manifest;
}

/** Templates and names of result columns become names of ktx. */
function conditionSql(
  where: string,
  { one, manifest, groups }: CaseContext & { readonly groups: readonly ResultColumn[] },
): string {
  const sql = where.replaceAll(
    /\[\[(\w):([^\]|]*)\|?([^\]]*)\]\]/g,
    (...[, kind, path, option]: readonly string[]) => {
      if (kind === 'M') return metricByEntities(manifest, path ?? '', option ?? '');
      const grain = kind === 'T' && option !== '' ? option?.toLowerCase() : undefined;
      return groupColumn({ one, manifest }, path ?? '', grain).ktx;
    },
  );
  return groups.reduce(
    (text, { ktx, metricflow }) =>
      text.replaceAll(new RegExp(`(?<![\\w.'])${metricflow}(?![\\w.'])`, 'g'), ktx),
    sql,
  );
}

/** `bookings|listing` as ktx writes a metric by the key of an entity. */
function metricByEntities(manifest: Manifest, metric: string, entities: string): string {
  const fields = entities
    .toLowerCase()
    .split(/[,\s]+/)
    .filter((path) => path !== '')
    .map((path) =>
      path.includes('__') ? path.split('__').join('.') : manifest.keyOfEntity(path, metric),
    );
  if (fields.length === 0) throw new Inexpressible('a condition on a metric by nothing');
  return `metric_by(${[metric, ...fields].join(', ')})`;
}

/**
 * MetricFlow widens a time constraint to whole periods of the finest `metric_time` of the query.
 */
function timeConditions(
  one: MetricflowCase,
  manifest: Manifest,
  dimensions: readonly string[],
): readonly string[] {
  if (!one.time_constraint) return [];
  const asked = dimensions.flatMap((name) =>
    name.startsWith('metric_time.') ? [name.split('.')[1] ?? ''] : [],
  );
  const [grain = grainOfTimes(manifest, ['metric_time'], one.metrics) ?? 'day'] = grains.filter(
    (candidate) => asked.includes(candidate),
  );
  const [from, to] = one.time_constraint.map((bound) => periodStart(bound, grain));
  return [`metric_time.${grain} >= '${from}'`, `metric_time.${grain} <= '${to}'`];
}

function periodStart(bound: string, grain: string): string {
  const time = new Date(`${bound.replace(' ', 'T')}${bound.length > 10 ? 'Z' : 'T00:00:00Z'}`);
  if (grain === 'week') time.setUTCDate(time.getUTCDate() - ((time.getUTCDay() + 6) % 7));
  if (grain === 'quarter') time.setUTCMonth(Math.floor(time.getUTCMonth() / 3) * 3, 1);
  if (grain === 'month') time.setUTCDate(1);
  if (grain === 'year') time.setUTCMonth(0, 1);
  const text = time.toISOString().replace('T', ' ');
  const length: Readonly<Record<string, number>> = { hour: 13, minute: 16, second: 19 };
  const rest: Readonly<Record<string, string>> = { hour: ':00:00', minute: ':00' };
  return `${text.slice(0, length[grain] ?? 10)}${rest[grain] ?? ''}`;
}

function orderItem(item: string, { one, manifest }: CaseContext) {
  const name = item.replace(/^-/, '');
  const field = one.metrics.includes(name)
    ? name
    : groupColumn({ one, manifest }, name, undefined).ktx;
  return { field, dir: item.startsWith('-') ? ('desc' as const) : ('asc' as const) };
}
