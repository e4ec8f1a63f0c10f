import type { FieldType } from '../../../sql/field-type.ts';
import { parseExactJson } from '../../result/exact-json.ts';
import { decimalCell, integerCell } from '../../result/number-cells.ts';
import type { Cell } from '../../warehouse.ts';

/** The parts of a type's spelling, such as `LowCardinality(Nullable(Enum8('a' = 1)))`. */
interface DeclaredType {
  readonly type: FieldType;
  readonly isNullable: boolean;
  /** The values of an Enum. */
  readonly values: readonly string[] | undefined;
}

export function readType(nativeType: string): DeclaredType {
  const isNullable = /^(?:LowCardinality\()?Nullable\(/.test(nativeType);
  const bare = withoutWrapping(nativeType);
  return { type: fieldType(bare), isNullable, values: enumValues(bare) };
}

/** `Nullable`, `LowCardinality` and simple aggregates hold the values of the type inside. */
function withoutWrapping(nativeType: string): string {
  const [, inside] =
    /^(?:Nullable|LowCardinality|SimpleAggregateFunction)\((?:\w+(?:\([^)]*\))?, )?(.*)\)$/s.exec(
      nativeType,
    ) ?? [];
  return inside === undefined ? nativeType : withoutWrapping(inside);
}

function fieldType(bare: string): FieldType {
  if (/^U?Int\d+$/.test(bare)) return 'integer';
  if (/^(?:Decimal|B?Float)/.test(bare)) return 'decimal';
  if (bare === 'Bool') return 'boolean';
  if (/^Date(?:32)?$/.test(bare)) return 'date';
  if (bare.startsWith('DateTime')) return bare.includes("'") ? 'datetime_tz' : 'datetime';
  return /^(?:String|FixedString|UUID|IPv[46]|Enum(?:8|16)|Time(?:64)?)\b/.test(bare)
    ? 'string'
    : 'unknown';
}

function enumValues(bare: string): readonly string[] | undefined {
  if (!/^Enum(?:8|16)\(/.test(bare)) return undefined;
  const values = [...bare.matchAll(/'((?:[^'\\]|\\.)*)' = -?\d+/gs)];
  return values.map(([, text = '']) => text.replaceAll(/\\(.)/gs, '$1'));
}

/**
 * One row of the format JSONCompactEachRow. Numbers that a double cannot hold are kept as their
 * digits.
 */
export function parseRow(line: string): readonly unknown[] {
  const row: unknown = parseExactJson(line);
  if (!Array.isArray(row)) throw new SyntaxError('the server sent a line that is no row');
  return row;
}

const infinities: Readonly<Record<string, string>> = {
  nan: 'NaN',
  inf: 'Infinity',
  '-inf': '-Infinity',
};

/** A value as the server writes it with ISO 8601 times, in time zone UTC. */
export function clickhouseCell(value: unknown, type: FieldType): Cell {
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'number') return type === 'boolean' ? value !== 0 : value;
  if (typeof value !== 'string') return JSON.stringify(value);
  if (type === 'integer' && /^-?\d+$/.test(value)) return integerCell(BigInt(value));
  if (type === 'decimal') return infinities[value] ?? decimalCell(value);
  return type === 'datetime' || type === 'datetime_tz' ? timeCell(value, type) : value;
}

function timeCell(value: string, type: 'datetime' | 'datetime_tz'): Cell {
  const [, date, clock = '', fraction = ''] =
    /^(\S+?)[T ]([\d:]+)(?:\.(\d+))?Z?$/.exec(value) ?? [];
  if (date === undefined) return value;
  const digits = fraction.replace(/0+$/, '');
  const time = digits === '' ? clock : `${clock}.${digits}`;
  return type === 'datetime_tz' ? `${date}T${time}Z` : `${date} ${time}`;
}
