import type { Dialect } from '../../../sql/dialect.ts';
import { toKtxName } from '../imported-model.ts';
import { tryParseFragment } from '../sql-fragment.ts';
import { isBlock, type LookmlEntry, textProperty } from './parse.ts';

/**
 * ktx cannot express a part of the LookML. The whole field or measure is left out, never read as
 * something else.
 */
export class UnreadableLookml extends Error {}

interface ViewSql {
  readonly view: string;
  readonly dialect: Dialect;
}

/** Row-level SQL of a view: `${TABLE}.status`, `${status}`. */
export function translateFieldSql(sql: string, { view, dialect }: ViewSql): string {
  const text = resolveReferences(sql, view);
  if (tryParseFragment(text, dialect)?.aggregates.length !== 0)
    throw new UnreadableLookml(`ktx cannot use the SQL ${sql}`);
  return text;
}

/** Arithmetic over measures: `${revenue} / nullif(${orders}, 0)`. */
export function translateMeasureSql(sql: string, { view, dialect }: ViewSql): string {
  const text = resolveReferences(sql, view);
  if (tryParseFragment(text, dialect) === undefined)
    throw new UnreadableLookml(`ktx cannot use the SQL ${sql}`);
  return text;
}

/** Replaces `${…}` references with names of the view. */
function resolveReferences(sql: string, view: string): string {
  if (/\{[%{]/.test(sql)) throw new UnreadableLookml('it is written in Liquid');
  const text = sql
    .replaceAll(/\$\{TABLE\}\s*\.\s*/g, '')
    .replaceAll(/\$\{\s*([\w.]+)\s*\}/g, (_, name: string) => {
      const parts = name.split('.');
      if (parts.length > 1 && parts[0] !== view)
        throw new UnreadableLookml(`it uses ${name} of another view`);
      return toKtxName(parts.at(-1) ?? '');
    });
  return text.replaceAll('`', '"').trim();
}

interface FilterContext {
  /** Names of the view's yesno dimensions. */
  readonly booleans: ReadonlySet<string>;
  readonly dialect: Dialect;
}

/**
 * The filters of a measure as SQL; undefined if it has none. Throws rather than drop a filter that
 * ktx cannot read.
 */
export function translateFilters(measure: LookmlEntry, context: FilterContext): string | undefined {
  const entries = isBlock(measure)
    ? measure.value.filter(({ key }) => key === 'filters' || key === 'filter')
    : [];
  if (entries.length === 0) return undefined;
  const filters = entries.flatMap(filterPairs);
  if (filters.length === 0) throw new UnreadableLookml('its filters cannot be read');
  return filters.map(([field, value]) => filterSql(field, value, context)).join(' and ');
}

/**
 * From `filters: [status: "paid", is_large: "yes"]`, or the older `filters: {field: status value:
 * "paid"}`.
 */
function filterPairs(entry: LookmlEntry): readonly (readonly [field: string, value: string])[] {
  if (isBlock(entry)) {
    const [field, value] = [textProperty(entry, 'field'), textProperty(entry, 'value')];
    return field === undefined || value === undefined ? [] : [[field, value]];
  }
  const members = Array.isArray(entry.value) ? entry.value : [];
  return members.flatMap((member): (readonly [string, string])[] => {
    const cut = typeof member === 'string' ? member.indexOf(': ') : -1;
    return typeof member === 'string' && cut > 0
      ? [[member.slice(0, cut), member.slice(cut + 2)]]
      : [];
  });
}

/** Translates the part of Looker's filter language that means the same for fields of every type. */
function filterSql(field: string, value: string, { booleans, dialect }: FilterContext): string {
  if (!/^\w+$/.test(field))
    throw new UnreadableLookml(`its filter is on ${field}, of another view`);
  if (booleans.has(field) && /^(yes|no)$/i.test(value))
    return value.toLowerCase() === 'yes' ? field : `not ${field}`;
  const [, operator, number] = /^(>=|<=|<>|!=|>|<)\s*(-?\d+(?:\.\d+)?)$/.exec(value) ?? [];
  if (operator !== undefined) return `${field} ${operator} ${number}`;
  if (value === '-NULL' || value === 'NOT NULL') return `${field} is not null`;
  if (value === 'NULL') return `${field} is null`;
  const values = value.split(',').map((part) => part.trim());
  if (!values.every(isPlainValue))
    throw new UnreadableLookml(`ktx cannot tell what the filter ${field}: "${value}" means`);
  const literals = values.map((text) => dialect.literal(text));
  return literals.length === 1
    ? `${field} = ${literals[0]}`
    : `${field} in (${literals.join(', ')})`;
}

/** True for a text that is no expression of Looker's filter language. */
function isPlainValue(text: string): boolean {
  return (
    /^[\p{L}_][\p{L}\p{N}_ ./:&+-]*$/u.test(text) &&
    !/^(?:NOT|EMPTY|NULL|yes|no)\b/i.test(text) &&
    !/\b(?:ago|days?|weeks?|months?|years?|today|last|this|before|after)\b/i.test(text)
  );
}
