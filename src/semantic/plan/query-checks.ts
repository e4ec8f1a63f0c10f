import { isWithin } from '../../sql/analyzer.ts';
import { isFiscal } from '../model/grains.ts';
import type { ModelDataset } from '../model/model.ts';
import { queryError } from '../query/errors.ts';
import type { RowCondition } from '../resolve/conditions.ts';
import { type ResolvedField, timeTypeOf } from '../resolve/field-path.ts';
import type { FactQuery } from './fact-query.ts';
import type { PlanContext } from './plan-context.ts';
import { checkSegments } from './row-conditions.ts';

/** Throws if the query has no columns, or two with one name. */
export function checkColumnNames(names: readonly string[]): void {
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined)
    throw queryError(
      'duplicate_name',
      `The query asks for ${repeated} twice`,
      'Name every column once.',
    );
  if (names.length === 0)
    throw queryError(
      'empty_query',
      'The query has no columns',
      'Name at least one metric or dimension.',
    );
}

/**
 * Throws if a segment or a condition with `on:` would restrict nothing. `owners` are the owners of
 * the fact queries.
 */
export function checkConditionScopes(
  { model, query, conditions }: PlanContext,
  owners: readonly string[],
): void {
  checkSegments(model, query, owners);
  for (const { on, text } of conditions.rows) {
    if (on === undefined || owners.includes(on)) continue;
    throw queryError(
      'unused_scope',
      `The condition ${JSON.stringify(text)} is scoped to ${on}, but the query has no metric of ${on}`,
      { hint: 'Valid values for on:', choices: owners },
    );
  }
}

/**
 * Adds a note if a metric shifts its time (`offset`) but the query names no time: without periods,
 * the shift changes nothing.
 */
export function noteShiftWithoutTime(
  { notes }: PlanContext,
  { aggregates: [first], usesTime }: FactQuery,
  metric: string,
): void {
  if (usesTime || first === undefined || first.shift.length === 0) return;
  notes.add(
    `${metric} shows another period, but the query names no time: it is the value of all time. Group by metric_time.month, for example`,
  );
}

/**
 * Throws if a period means something else for one dataset than for another, so that their groups
 * cannot be merged.
 */
export function checkCommonPeriods(
  context: PlanContext,
  [first, ...others]: readonly [FactQuery, ...FactQuery[]],
): void {
  for (const other of others) checkFiscalYears(context, first, other);
  for (const other of others) checkBareTimes(context, first, other);
}

/**
 * Fiscal dimensions, and conditions on fiscal periods of `metric_time`, need the same fiscal year
 * in both datasets.
 */
function checkFiscalYears(
  { model, query, conditions }: PlanContext,
  first: FactQuery,
  other: FactQuery,
): void {
  for (const [index, { grain, dataset }] of other.dimensions.entries()) {
    if (grain !== undefined && isFiscal(grain))
      requireSameFiscalYear(
        first.dimensions[index]?.dataset,
        dataset,
        query.dimensions[index] ?? '',
      );
  }
  const condition = conditions.rows.find(usesFiscalMetricTime);
  if (condition === undefined) return;
  const datasetOf = ({ owner }: FactQuery) => model.datasets.get(owner);
  requireSameFiscalYear(datasetOf(first), datasetOf(other), JSON.stringify(condition.text));
}

function usesFiscalMetricTime({ on, text, row }: RowCondition): boolean {
  if (on !== undefined) return false;
  const names =
    row === undefined
      ? // A condition as {field, op, value}: its text begins with the field.
        [text.split(' ', 1).join().split('.')]
      : row.fragment.references
          .filter((reference) => isWithin(reference, row.span))
          .map(({ parts }) => parts);
  return names.some(
    ([root, grain]) => root === 'metric_time' && grain?.startsWith('fiscal_') === true,
  );
}

function requireSameFiscalYear(
  left: ModelDataset | undefined,
  right: ModelDataset | undefined,
  name: string,
): void {
  if (left === undefined || right === undefined) return;
  if (left.fiscalYearStart === right.fiscalYearStart) return;
  const [leftYear, rightYear] = [left, right].map(
    ({ name: dataset, fiscalYearStart, file }) =>
      `${dataset} in month ${fiscalYearStart} (${file})`,
  );
  throw queryError(
    'fiscal_year',
    `${name} is not the same period for both datasets: fiscal years begin for ${leftYear}, for ${rightYear}`,
    'Query one of them at a time, or write the same fiscal_year_start into both files.',
  );
}

/**
 * Without a period, a date and a datetime have no common groups: 1 May is not 1 May at midnight.
 */
function checkBareTimes({ query }: PlanContext, first: FactQuery, other: FactQuery): void {
  for (const [index, dimension] of other.dimensions.entries()) {
    const firstType = bareTimeType(first.dimensions[index]);
    const otherType = bareTimeType(dimension);
    if (firstType === undefined || otherType === undefined || firstType === otherType) continue;
    const name = query.dimensions[index] ?? '';
    throw queryError(
      'no_period',
      `${name} needs a period: it is a ${firstType} of ${first.owner} and a ${otherType} of ${other.owner}`,
      { hint: 'Name the period.', choices: [`${name}.day`, `${name}.month`] },
    );
  }
}

function bareTimeType(dimension: ResolvedField | undefined): string | undefined {
  if (dimension === undefined || dimension.grain !== undefined) return undefined;
  return timeTypeOf(dimension);
}
