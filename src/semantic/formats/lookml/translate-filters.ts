import type { Dialect } from '../../../sql/dialect.ts';
import { toKtxName } from '../imported-model.ts';
import { isBlock, type LookmlEntry, textProperty } from './parse.ts';
import { contestedFilters } from './resolve-project.ts';
import type { ViewSql } from './translate-sql.ts';
import { UnreadableLookml } from './unreadable-lookml.ts';

/**
 * The filters of a measure as SQL; undefined if it has none. Throws rather than drop a filter that
 * ktx cannot read.
 */
export function translateFilters(measure: LookmlEntry, context: ViewSql): string | undefined {
  const members = isBlock(measure) ? measure.value : [];
  if (members.some(({ key }) => key === contestedFilters))
    throw new UnreadableLookml('an extension or refinement gives it other filters');
  const entries = members.filter(({ key }) => key === 'filters' || key === 'filter');
  if (entries.length === 0) return undefined;
  const filters = entries.flatMap(filterPairs);
  if (filters.length === 0) throw new UnreadableLookml('its filters cannot be read');
  const conditions = filters.map(([field, value]) => filterSql(field, value, context));
  return conditions.filter((condition) => condition !== '').join(' and ') || undefined;
}

/**
 * From `filters: [status: "paid", is_large: "yes"]`, or the older `filters: {field: status value:
 * "paid"}`.
 */
export function filterPairs(
  entry: LookmlEntry,
): readonly (readonly [field: string, value: string])[] {
  if (isBlock(entry)) {
    const [field, value] = [textProperty(entry, 'field'), textProperty(entry, 'value')];
    if (field === undefined || value === undefined)
      throw new UnreadableLookml('its filters cannot be read');
    return [[field, value]];
  }
  const members = Array.isArray(entry.value) ? entry.value : [entry.value];
  return members.map((member): readonly [string, string] => {
    const cut = typeof member === 'string' ? member.indexOf(':') : -1;
    if (typeof member !== 'string' || cut < 1)
      throw new UnreadableLookml('its filters cannot be read');
    return [member.slice(0, cut), member.slice(cut + 1).trim()];
  });
}

/** Translates the part of Looker's filter language that means one thing. */
function filterSql(written: string, value: string, context: ViewSql): string {
  const { name, type } = filteredField(written, context);
  if (value === '') return '';
  const unreadable = () =>
    new UnreadableLookml(`ktx cannot tell what the filter ${written}: "${value}" means`);
  if (value === '-NULL' || value === 'NOT NULL') return `${name} is not null`;
  if (value === 'NULL') return `${name} is null`;
  if (type === 'yesno') {
    if (!/^(yes|no)$/i.test(value)) throw unreadable();
    return value.toLowerCase() === 'yes' ? name : `(not ${name} or ${name} is null)`;
  }
  if (type === 'number') {
    const sql = numberFilter(name, value);
    if (sql === undefined) throw unreadable();
    return sql;
  }
  if (!['string', 'zipcode', 'case', 'tier', 'bin'].includes(type)) throw unreadable();
  const sql = textFilter(name, value, context.dialect);
  if (sql === undefined) throw unreadable();
  return sql;
}

interface FilteredField {
  readonly name: string;
  /** As in LookML. */
  readonly type: string;
}

function filteredField(written: string, { names }: ViewSql): FilteredField {
  const [name = '', view = names.view, ...more] = written.split('.').toReversed();
  if (view !== names.view || more.length > 0)
    throw new UnreadableLookml(`its filter is on ${written}, of another view`);
  const member = names.members.get(name);
  if (member === undefined || member.kind === 'measure')
    throw new UnreadableLookml(`its filter is on ${written}, which is no dimension of the view`);
  return { name: toKtxName(name), type: member.type };
}

const number = String.raw`(-?\d+(?:\.\d+)?)`;
const comparison = new RegExp(`^(>=|<=|<>|!=|>|<)\\s*${number}$`);
const interval = new RegExp(`^([[(])\\s*${number}\\s*,\\s*${number}\\s*([\\])])$`);
const numberList = new RegExp(`^(NOT\\s+)?${number}(?:\\s*,\\s*${number})*$`, 'i');

function numberFilter(name: string, value: string): string | undefined {
  const ranges = value.split(/\s+AND\s+/i).map((part) => comparison.exec(part.trim()));
  if (ranges.every((range) => range !== null)) {
    // Looker keeps rows without a value where a number is excluded.
    if (ranges.some((range) => range[1] === '<>' || range[1] === '!='))
      return ranges.length > 1 ? undefined : `(${name} <> ${ranges[0]?.[2]} or ${name} is null)`;
    return ranges.map((range) => `${name} ${range[1]} ${range[2]}`).join(' and ');
  }
  const [, open, from, to, close] = interval.exec(value) ?? [];
  if (from !== undefined)
    return `${name} ${open === '[' ? '>=' : '>'} ${from} and ${name} ${close === ']' ? '<=' : '<'} ${to}`;
  if (!numberList.test(value)) return undefined;
  const isNegated = /^NOT/i.test(value);
  const numbers = value
    .replace(/^NOT\s+/i, '')
    .split(',')
    .map((part) => part.trim());
  const one = numbers.length === 1;
  if (!isNegated) return one ? `${name} = ${numbers[0]}` : `${name} in (${numbers.join(', ')})`;
  return one ? `(${name} <> ${numbers[0]} or ${name} is null)` : undefined;
}

function textFilter(name: string, value: string, dialect: Dialect): string | undefined {
  if (value === 'EMPTY') return `(${name} is null or ${name} = '')`;
  if (value === '-EMPTY') return `(${name} is not null and ${name} <> '')`;
  const parts = value.split(',').map((part) => part.trim());
  if (parts.length > 1 && parts.some((part) => part === '')) return undefined;
  const isNegated = parts.every((part) => part.startsWith('-'));
  const texts = isNegated ? parts.map((part) => part.slice(1)) : parts;
  if (!texts.every(isPlainText)) return undefined;
  if (texts.some((text) => text.includes('%'))) return likeFilter(name, texts, isNegated);
  const literals = texts.map((text) => dialect.literal(unquoted(text)));
  const [first = ''] = literals;
  const list = `(${literals.join(', ')})`;
  if (!isNegated) return literals.length === 1 ? `${name} = ${first}` : `${name} in ${list}`;
  const excluded = literals.length === 1 ? `${name} <> ${first}` : `${name} not in ${list}`;
  return `(${excluded} or ${name} is null)`;
}

function unquoted(text: string): string {
  return text.startsWith('"') ? text.slice(1, -1) : text;
}

function likeFilter(
  name: string,
  [pattern = '', ...more]: readonly string[],
  isNegated: boolean,
): string | undefined {
  if (more.length > 0 || /['_\\^"]/.test(pattern)) return undefined;
  return isNegated
    ? `(${name} not like '${pattern}' or ${name} is null)`
    : `${name} like '${pattern}'`;
}

/** True for a text that is no expression of Looker's filter language. */
function isPlainText(text: string): boolean {
  if (/^"[^"^%]+"$/.test(text)) return true;
  return (
    text !== '' && !/["^_]$|^["-]|[\^"]/.test(text) && !/^(?:NOT|EMPTY|NULL)$|^NOT\s/i.test(text)
  );
}
