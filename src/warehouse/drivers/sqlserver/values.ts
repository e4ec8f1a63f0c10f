import type { FieldType } from '../../../sql/field-type.ts';
import { decimalCell, doubleCell, floatCell, integerCell } from '../../result/number-cells.ts';
import type { Cell } from '../../warehouse.ts';

/** From the name of a type as `sys.types` has it. */
export function sqlserverFieldType(name: string): FieldType {
  if (/^(?:tinyint|smallint|int|bigint)$/.test(name)) return 'integer';
  if (/^(?:decimal|numeric|money|smallmoney|float|real)$/.test(name)) return 'decimal';
  if (name === 'bit') return 'boolean';
  if (name === 'date') return 'date';
  if (/^(?:datetime|datetime2|smalldatetime)$/.test(name)) return 'datetime';
  if (name === 'datetimeoffset') return 'datetime_tz';
  return /^(?:n?(?:var)?char|n?text|sysname|uniqueidentifier|time)$/.test(name)
    ? 'string'
    : 'unknown';
}

/** What `sys.columns` says of a column; lengths are in bytes, -1 is `max`. */
export interface SqlServerDeclaredType {
  readonly type_name: string;
  readonly max_length: number;
  readonly precision: number;
  readonly scale: number;
}

/** As a person would declare it: `nvarchar(50)`, `decimal(10,2)`. */
export function nativeType(declared: SqlServerDeclaredType): string {
  const { type_name: name, max_length: length, precision, scale } = declared;
  if (/^(?:decimal|numeric)$/.test(name)) return `${name}(${precision},${scale})`;
  if (/^(?:datetime2|datetimeoffset|time)$/.test(name)) return `${name}(${scale})`;
  if (!/^n?(?:var)?(?:char|binary)$/.test(name)) return name;
  const characters = name.startsWith('n') ? length / 2 : length;
  return `${name}(${length === -1 ? 'max' : characters})`;
}

/** What the library says of a column of a result. */
export interface SqlServerResultColumn {
  readonly colName: string;
  readonly type: { readonly name: string };
  readonly dataLength?: number | undefined;
  readonly udtInfo?: { readonly typeName: string } | undefined;
}

const fieldTypes: Readonly<Record<string, FieldType>> = {
  TinyInt: 'integer',
  SmallInt: 'integer',
  Int: 'integer',
  BigInt: 'integer',
  IntN: 'integer',
  Bit: 'boolean',
  BitN: 'boolean',
  DecimalN: 'decimal',
  NumericN: 'decimal',
  Money: 'decimal',
  SmallMoney: 'decimal',
  MoneyN: 'decimal',
  Real: 'decimal',
  Float: 'decimal',
  FloatN: 'decimal',
  Date: 'date',
  SmallDateTime: 'datetime',
  DateTime: 'datetime',
  DateTimeN: 'datetime',
  DateTime2: 'datetime',
  DateTimeOffset: 'datetime_tz',
  Time: 'string',
  UniqueIdentifier: 'string',
  Char: 'string',
  VarChar: 'string',
  NChar: 'string',
  NVarChar: 'string',
  Text: 'string',
  NText: 'string',
};

export function resultFieldType({ type }: SqlServerResultColumn): FieldType {
  return fieldTypes[type.name] ?? 'unknown';
}

/** As the library gives it; decimals and money are digits (`connection/exact-numbers.ts`). */
export function sqlserverCell(value: unknown, column: SqlServerResultColumn): Cell {
  if (value === null || value === undefined) return null;
  if (typeof value === 'boolean') return value;
  if (value instanceof Date) return timeCell(value, column.type.name);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (typeof value === 'number') return numberCell(value, column);
  if (typeof value !== 'string') return JSON.stringify(value);
  const type = resultFieldType(column);
  if (type === 'integer') return integerCell(BigInt(value));
  return type === 'decimal' ? decimalCell(value) : value;
}

function numberCell(value: number, { type, dataLength }: SqlServerResultColumn): Cell {
  const isSingle = type.name === 'Real' || (type.name === 'FloatN' && dataLength === 4);
  return isSingle ? floatCell(value) : doubleCell(value);
}

/** Beside the milliseconds of a Date the library has the rest, in seconds. */
function timeCell(value: Date & { readonly nanosecondsDelta?: number }, type: string): Cell {
  const [date = '', clock = ''] = value.toISOString().split('T');
  if (type === 'Date') return date;
  const rest = Math.round((value.nanosecondsDelta ?? 0) * 1e9);
  const nanoseconds = value.getUTCMilliseconds() * 1_000_000 + rest;
  const digits = String(nanoseconds).padStart(9, '0').replace(/0+$/, '');
  const time = `${clock.slice(0, 8)}${digits === '' ? '' : `.${digits}`}`;
  if (type === 'Time') return time;
  return type === 'DateTimeOffset' ? `${date}T${time}Z` : `${date} ${time}`;
}
