import type { FieldType } from '../../../sql/field-type.ts';
import type { Grain } from '../../model/grains.ts';
import { queryError } from '../../query/errors.ts';
import type { FilterValue } from '../../query/query.ts';
import type { Expr } from '../../relational/query-tree.ts';
import type { LiteralComparison, WrittenLiteral } from './literal-comparisons.ts';
import { localText, parseTime, utcText, type WrittenTime } from './time-literal.ts';

/** What a literal is compared with. */
export interface LiteralTarget {
  /** The field as the query names it, for messages. */
  readonly name: string;
  /** Undefined or `unknown` takes every literal as it is. */
  readonly type: FieldType | undefined;
  readonly grain: Grain | undefined;
  /** In which a time without an offset is meant, if the field is an instant. */
  readonly timezone: string | undefined;
}

type ComparedLiteral = Pick<WrittenLiteral, 'kind' | 'value'>;

/**
 * The literal in the type of the field, so that every engine compares the same values: `'5'` is a
 * number beside a number, `'2024-02'` the first day beside a month, a time an instant in the
 * query's zone. Undefined if it can stay as written. Throws `literal_type` if the type has no such
 * value.
 */
export function typedLiteral(
  literal: ComparedLiteral,
  target: LiteralTarget,
  { isEquality }: Pick<LiteralComparison, 'isEquality'>,
): Expr | undefined {
  switch (target.type) {
    case undefined:
    case 'unknown':
      return undefined;
    case 'string':
      return textLiteral(literal, target);
    case 'integer':
    case 'decimal':
      return numberLiteral(literal, target);
    case 'boolean':
      return booleanLiteral(literal, target);
    case 'date':
    case 'datetime':
    case 'datetime_tz':
      return timeLiteral(literal, { ...target, type: target.type }, isEquality);
  }
  return target.type satisfies never;
}

/** The value of a `{field, op, value}` condition as an expression of the field's type. */
export function typedValue(
  value: Exclude<FilterValue, null>,
  target: LiteralTarget,
  comparison: Pick<LiteralComparison, 'isEquality'>,
): Expr {
  const kind =
    typeof value === 'string' ? 'text' : typeof value === 'number' ? 'number' : 'boolean';
  const typed = typedLiteral({ kind, value: String(value) }, target, comparison);
  return typed ?? { kind: 'literal', value };
}

function textLiteral({ kind, value }: ComparedLiteral, target: LiteralTarget): Expr | undefined {
  if (kind === 'text') return undefined;
  if (kind === 'number') return { kind: 'literal', value };
  throw literalError({ kind, value }, target, `Write a text: ${target.name} = '${value}'.`);
}

const numberPattern = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d{1,3})?$/i;

function numberLiteral({ kind, value }: ComparedLiteral, target: LiteralTarget): Expr | undefined {
  if (kind === 'number') return undefined;
  const text = value.trim();
  // As text, so that no digit is lost.
  if (kind === 'text' && numberPattern.test(text)) return { kind: 'text', parts: [text] };
  throw literalError({ kind, value }, target, `Write a number without quotes: ${target.name} = 5.`);
}

function booleanLiteral(literal: ComparedLiteral, target: LiteralTarget): Expr | undefined {
  if (literal.kind === 'boolean') return undefined;
  const text = literal.value.trim().toLowerCase();
  const values = literal.kind === 'text' ? ['true', 'false'] : ['1', '0'];
  if (!values.includes(text))
    throw literalError(literal, target, `Write ${target.name} = true or ${target.name} = false.`);
  return { kind: 'literal', value: text === values[0] };
}

type TimeTarget = LiteralTarget & { readonly type: 'date' | 'datetime' | 'datetime_tz' };

function timeLiteral(literal: ComparedLiteral, target: TimeTarget, isEquality: boolean): Expr {
  const { type, timezone } = target;
  const time = literal.kind === 'boolean' ? undefined : parseTime(literal.value);
  if (time === undefined || !isPreciseEnough(time, target, literal))
    throw literalError(literal, target, timeHint(target, time));
  if (type === 'datetime_tz') return { kind: 'moment', type, text: utcText(time, timezone) };
  if (time.offset !== undefined) throw offsetError(literal, target);
  if (type === 'datetime') return { kind: 'moment', type, text: localText(time) };
  if (time.clock !== '00:00:00' || time.fraction !== '')
    throw literalError(literal, target, `Write a day: ${target.name} >= '${time.day}'.`);
  if (isEquality) checkPeriodStart(target, time);
  return { kind: 'moment', type, text: time.day };
}

/**
 * A year or month is enough beside a period of that length; a bare number is a year and nothing
 * else.
 */
function isPreciseEnough(
  { precision }: WrittenTime,
  { grain }: TimeTarget,
  { kind }: ComparedLiteral,
): boolean {
  const isYear = grain === 'year' || grain === 'fiscal_year';
  if (precision === 'year') return isYear;
  if (kind === 'number') return false;
  const isLong = isYear || grain === 'quarter' || grain === 'fiscal_quarter' || grain === 'month';
  return precision !== 'month' || isLong;
}

/** No month starts on the 15th: such an equality would silently be true for no row. */
function checkPeriodStart({ grain, name }: TimeTarget, { day }: WrittenTime): void {
  const start =
    grain === 'month'
      ? `${day.slice(0, 7)}-01`
      : grain === 'year'
        ? `${day.slice(0, 4)}-01-01`
        : day;
  if (start === day) return;
  const field = name.split('.').slice(0, -1).join('.');
  throw queryError(
    'literal_type',
    `No ${grain} starts on ${day}, so ${name} is never equal to it`,
    `For the whole ${grain} write ${name} = '${start}', for one day ${field}.day = '${day}'.`,
  );
}

function timeHint({ name, type, grain }: TimeTarget, time: WrittenTime | undefined): string {
  const clockHint = type === 'date' ? '' : ", or a time like '2024-02-01 10:00:00'";
  if (time === undefined || grain !== undefined)
    return `Write a day like ${name} >= '2024-02-01'${clockHint}.`;
  const period = time.precision === 'year' ? 'year' : 'month';
  const text = time.day.slice(0, period === 'year' ? 4 : 7);
  return `For the whole ${period} write ${name}.${period} = '${text}'. As a bound write '${time.day}'.`;
}

function offsetError({ value }: ComparedLiteral, { name, grain }: TimeTarget) {
  return queryError(
    'literal_type',
    `${name} has no time zone, and '${value}' has one`,
    grain === undefined
      ? 'Write the time without it.'
      : 'Set timezone in the query, and write the time without it.',
  );
}

const typeNames: Readonly<Record<FieldType, string>> = {
  string: 'text',
  integer: 'a whole number',
  decimal: 'a number',
  boolean: 'true or false',
  date: 'a day',
  datetime: 'a day or time',
  datetime_tz: 'a day or time',
  unknown: 'a value',
};

function literalError({ kind, value }: ComparedLiteral, target: LiteralTarget, hint: string) {
  const written = kind === 'text' ? `'${value}'` : value;
  const typeName = typeNames[target.type ?? 'unknown'];
  return queryError('literal_type', `${target.name} is ${typeName}, and ${written} is not`, hint);
}
