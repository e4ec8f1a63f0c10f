import type { Dialect } from '../../../sql/dialect.ts';
import { toKtxName } from '../imported-model.ts';
import { isBlock, type LookmlEntry } from './parse.ts';
import { fragmentIn } from '../sql-fragment.ts';

/** Something of LookML has no meaning in ktx: it is left out, never read as something else. */
export class Unreadable extends Error {}

interface At {
  readonly view: string;
  readonly dialect: Dialect;
}

/** Row-level SQL of a view: `${TABLE}.status`, `${status}`. */
export function fieldSql(sql: string, at: At): string {
  const text = substituted(sql, at);
  if (fragmentIn(text, at.dialect)?.aggregates.length !== 0)
    throw new Unreadable(`ktx cannot use the SQL ${sql}`);
  return text;
}

/** Arithmetic over measures: `${revenue} / nullif(${orders}, 0)`. */
export function measureSql(sql: string, at: At): string {
  const text = substituted(sql, at);
  if (fragmentIn(text, at.dialect) === undefined)
    throw new Unreadable(`ktx cannot use the SQL ${sql}`);
  return text;
}

function substituted(sql: string, { view }: At): string {
  if (/\{[%{]/.test(sql)) throw new Unreadable('it is written in Liquid');
  const text = sql
    .replaceAll(/\$\{TABLE\}\s*\.\s*/g, '')
    .replaceAll(/\$\{\s*([\w.]+)\s*\}/g, (_, name: string) => {
      const parts = name.split('.');
      if (parts.length > 1 && parts[0] !== view)
        throw new Unreadable(`it uses ${name} of another view`);
      return toKtxName(parts.at(-1) ?? '');
    });
  return text.replaceAll('`', '"').trim();
}

/** The filters of a measure as SQL; undefined where it has none. One that cannot be read must not be dropped. */
export function filterSql(
  block: LookmlEntry,
  at: { readonly booleans: ReadonlySet<string>; readonly dialect: Dialect },
): string | undefined {
  const entries = isBlock(block)
    ? block.value.filter(({ key }) => key === 'filters' || key === 'filter')
    : [];
  const pairs = entries.flatMap(pairsOf);
  if (entries.length > 0 && pairs.length === 0) throw new Unreadable('its filters cannot be read');
  if (pairs.length === 0) return undefined;
  return pairs.map(([field, value]) => condition(field, value, at)).join(' and ');
}

/** `filters: [status: "paid", is_large: "yes"]`, or the older `filters: {field: status value: "paid"}`. */
function pairsOf(entry: LookmlEntry): readonly (readonly [string, string])[] {
  if (isBlock(entry)) {
    const textOf = (key: string) => entry.value.find((one) => one.key === key)?.value;
    const [field, value] = [textOf('field'), textOf('value')];
    return typeof field === 'string' && typeof value === 'string' ? [[field, value]] : [];
  }
  const members = Array.isArray(entry.value) ? entry.value : [];
  return members.flatMap((member): (readonly [string, string])[] => {
    const cut = typeof member === 'string' ? member.indexOf(': ') : -1;
    return typeof member === 'string' && cut > 0
      ? [[member.slice(0, cut), member.slice(cut + 2)]]
      : [];
  });
}

/** Looker's filter language, as far as it means one thing whatever the type of the field. */
function condition(
  field: string,
  value: string,
  { booleans, dialect }: { booleans: ReadonlySet<string>; dialect: Dialect },
): string {
  if (!/^\w+$/.test(field)) throw new Unreadable(`its filter is on ${field}, of another view`);
  if (booleans.has(field) && /^(yes|no)$/i.test(value))
    return value.toLowerCase() === 'yes' ? field : `not ${field}`;
  const [, operator, number] = /^(>=|<=|<>|!=|>|<)\s*(-?\d+(?:\.\d+)?)$/.exec(value) ?? [];
  if (operator !== undefined) return `${field} ${operator} ${number}`;
  if (value === '-NULL' || value === 'NOT NULL') return `${field} is not null`;
  if (value === 'NULL') return `${field} is null`;
  const values = value.split(',').map((one) => one.trim());
  const isPlain = values.every(
    (one) =>
      /^[\p{L}_][\p{L}\p{N}_ ./:&+-]*$/u.test(one) &&
      !/^(?:NOT|EMPTY|NULL|yes|no)\b/i.test(one) &&
      !/\b(?:ago|days?|weeks?|months?|years?|today|last|this|before|after)\b/i.test(one),
  );
  if (!isPlain) throw new Unreadable(`ktx cannot tell what the filter ${field}: "${value}" means`);
  const literals = values.map((one) => dialect.literal(one));
  return literals.length === 1
    ? `${field} = ${literals[0]}`
    : `${field} in (${literals.join(', ')})`;
}
