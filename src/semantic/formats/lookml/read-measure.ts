import type { Aggregate } from '../../../sql/aggregates.ts';
import type { MetricDefinition } from '../../model/metric-definition.ts';
import { toKtxName } from '../imported-model.ts';
import { omitKeys } from '../patch.ts';
import { tryParseFragment } from '../sql-fragment.ts';
import { type LookmlBlock, textProperty } from './parse.ts';
import { type FieldContext, readDescription } from './read-dimension.ts';
import { translateFilters } from './translate-filters.ts';
import { shortSql, translateFieldSql, translateMeasureSql } from './translate-sql.ts';
import { UnreadableLookml } from './unreadable-lookml.ts';

const measureAggregates: Readonly<Record<string, Aggregate>> = {
  count: 'count',
  sum: 'sum',
  average: 'avg',
  min: 'min',
  max: 'max',
  count_distinct: 'count_distinct',
  median: 'median',
  percentile: 'percentile',
};

/** Types that say what a formula gives, and aggregate nothing themselves. */
const formulaTypes = ['number', 'string', 'yesno', 'date', 'date_time', 'time', 'int'];

const measureKeys = ['type', 'sql', 'filters', 'filter', 'percentile', 'sql_distinct_key'];

export function readMeasure(block: LookmlBlock, context: FieldContext): MetricDefinition {
  context.sayUnread(block, measureKeys);
  const type = textProperty(block, 'type') ?? 'string';
  const where = translateFilters(block, context);
  if (where !== undefined && formulaTypes.includes(type))
    throw new UnreadableLookml(`Looker ignores its filters, because its type is ${type}`);
  return {
    name: toKtxName(block.name),
    ...readComputation(block, type, context),
    ...omitKeys({ where, unit: readUnit(block), ...readDescription(block) }),
  };
}

/** The currencies that Looker's named formats stand for. */
function readUnit(block: LookmlBlock): string | undefined {
  const currency = /^(usd|eur|gbp)(?:_0)?$/.exec(textProperty(block, 'value_format_name') ?? '');
  return currency?.[1]?.toUpperCase();
}

type Computation = Pick<MetricDefinition, 'expr' | 'agg' | 'of' | 'fraction' | 'per'>;

/** `expr` for arithmetic over other measures, else `agg` and `of`. */
function readComputation(block: LookmlBlock, type: string, context: FieldContext): Computation {
  const sql = textProperty(block, 'sql');
  if (formulaTypes.includes(type) && sql !== undefined) return readFormula(sql, context);
  const plainType = type.replace(/_distinct$/, '');
  const isDistinct = plainType !== type && type !== 'count_distinct';
  const agg = measureAggregates[isDistinct ? plainType : type];
  if (agg === undefined)
    throw new UnreadableLookml(`ktx has no equivalent for measures of type ${type}`);
  if (sql === undefined && agg !== 'count') throw new UnreadableLookml('it has no sql');
  const percent = Number(textProperty(block, 'percentile') ?? 50);
  const of = sql === undefined ? undefined : translateFieldSql(sql, context);
  return omitKeys({
    agg,
    of,
    fraction: agg === 'percentile' ? percent / 100 : undefined,
    ...(isDistinct && of !== undefined && readDistinct(block, of, context)),
  });
}

function readFormula(sql: string, context: FieldContext): Computation {
  const expr = translateMeasureSql(sql, context);
  const fragment = tryParseFragment(expr, context.dialect);
  const usesRowAlone = fragment?.references.some(
    ({ parts, start }) =>
      context.names.members.get(parts.at(-1) ?? '')?.kind !== 'measure' &&
      !fragment.aggregates.some((call) => call.start <= start && start < call.end),
  );
  if (usesRowAlone === true)
    throw new UnreadableLookml(`it is no aggregate, or uses one that ktx lacks: ${shortSql(sql)}`);
  return { expr };
}

/**
 * `sum_distinct` counts a value once for each key. Where the key is the one of the view, that is a
 * plain sum.
 */
function readDistinct(
  block: LookmlBlock,
  of: string,
  context: FieldContext,
): Pick<Computation, 'of' | 'per'> {
  const key = textProperty(block, 'sql_distinct_key');
  const [own, ...more] = context.names.primaryKey;
  if (key === undefined) {
    if (own === undefined) throw new UnreadableLookml('it has no sql_distinct_key');
    return {};
  }
  const field = translateFieldSql(key, context);
  if (more.length === 0 && field === own) return {};
  const isOwnField = context.names.members.get(field)?.kind === 'dimension';
  const helper = `${toKtxName(block.name)}_key`;
  if (!isOwnField) context.addField({ name: helper, expr: field });
  return { of: `max(${of})`, per: isOwnField ? field : helper };
}
