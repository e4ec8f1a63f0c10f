import type { Cell, ColumnSchema } from '../../warehouse/warehouse.ts';
import { estimateDistinct, type Sketch } from './sketch.ts';
import type { PersonalKind } from '../personal/classify-column.ts';
import { type ColumnPolicy, personalKindUnder } from './column-policy.ts';
import type { ColumnProfile } from './table-profile.ts';
import { storableValues } from './value-dictionary.ts';
import { comparisonFamily, detectValueKind, type ValueKind } from './value-kinds.ts';

/** What the profile statement returned for one column. */
export interface ColumnResults {
  /** Rows of the table that were read. */
  readonly rows: number;
  /** Values that are not NULL. */
  readonly count: number;
  /** The range of numbers; for text, `high` is the greatest length. */
  readonly low: number | undefined;
  readonly high: number | undefined;
  /** Of the engines that keep times as text: as `timesInText` returns them. */
  readonly times?: Cell | undefined;
  readonly sketch: Sketch;
  /** Values of the first rows, without NULLs. */
  readonly firstValues: readonly string[];
  /** What makes the column personal by its name and values. */
  readonly inferred: PersonalKind | undefined;
  readonly policy: ColumnPolicy;
}

export function columnProfile(column: ColumnSchema, results: ColumnResults): ColumnProfile {
  const { rows, count, low, high, sketch, firstValues, inferred, policy } = results;
  const personal = personalKindUnder(policy, inferred);
  const isStored = personal === undefined && !policy.isWithheld;
  const kind = columnKind(column, firstValues);
  const isNumber = isNumeric(column);
  const distinct = estimateDistinct(sketch);
  return {
    name: column.name,
    kind,
    personal,
    inferred,
    isWithheld: isStored ? undefined : true,
    nulls: rows - count,
    distinct,
    min: isNumber ? low : undefined,
    max: isNumber ? high : undefined,
    maxLength: isNumber ? undefined : high,
    time: timeOf(results.times),
    top: isStored ? mostFrequent(firstValues) : [],
    values: isStored ? storableValues(column, { distinct, values: firstValues }) : [],
    sketch: comparisonFamily(column.type, kind) === undefined ? '' : sketch,
    note: isMeasured(column) ? undefined : `no statistics for type ${column.nativeType}`,
  };
}

/** The type that holds for every text: a date is a time, a time with a zone is not one without. */
function timeOf(times: Cell | undefined): ColumnProfile['time'] {
  const [least, greatest] = typeof times === 'string' ? times.split(' ') : [];
  if (least === greatest && (least === 'date' || least === 'datetime_tz')) return least;
  const isTime = (kind?: string): boolean => kind === 'date' || kind === 'datetime';
  return isTime(least) && isTime(greatest) ? 'datetime' : undefined;
}

/** The profile of a column of which nothing was read. */
export function emptyProfile(column: ColumnSchema): ColumnProfile {
  const nothing = { rows: 0, count: 0, low: undefined, high: undefined };
  return columnProfile(column, {
    ...nothing,
    sketch: '',
    firstValues: [],
    inferred: undefined,
    policy: { personal: undefined, isWithheld: true },
  });
}

export const isNumeric = ({ type }: ColumnSchema): boolean =>
  type === 'integer' || type === 'decimal';

/** True if the values can be compared as text. Of other columns only the NULLs are counted. */
export const isMeasured = (column: ColumnSchema): boolean =>
  isNumeric(column) || column.type === 'string' || column.type === 'date';

export function numberFromCell(cell: Cell | undefined): number | undefined {
  const value = typeof cell === 'string' ? Number(cell) : cell;
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

function columnKind(column: ColumnSchema, values: readonly string[]): ValueKind {
  const kind = detectValueKind(values, column.name);
  if (column.type === 'date' || column.type === 'datetime' || column.type === 'datetime_tz')
    return 'date';
  if (isNumeric(column) && kind !== 'empty')
    return ['integer', 'card', 'phone'].includes(kind) ? 'integer' : 'number';
  return column.type === 'unknown' ? 'binary' : kind;
}

/** Up to ten values that occur more than once, the most frequent first. */
function mostFrequent(values: readonly string[]): string[] {
  const groups = [...Map.groupBy(values, (value) => value)].filter(([, { length }]) => length > 1);
  return groups
    .sort(([a, { length: x }], [b, { length: y }]) => y - x || (a < b ? -1 : 1))
    .slice(0, 10)
    .map(([value]) => value);
}
