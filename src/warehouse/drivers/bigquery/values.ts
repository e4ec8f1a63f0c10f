import { z } from 'zod';
import type { FieldType } from '../../../sql/field-type.ts';
import { decimalCell, doubleCell, integerCell } from '../../result/number-cells.ts';
import type { Cell } from '../../warehouse.ts';

/** A column as the API describes it. */
export interface ApiField {
  readonly name: string;
  readonly type: string;
  readonly mode?: string | undefined;
  readonly description?: string | undefined;
  readonly maxLength?: string | undefined;
  readonly precision?: string | undefined;
  readonly scale?: string | undefined;
  /** Of a RECORD. */
  readonly fields?: readonly ApiField[] | undefined;
}

export const fieldSchema: z.ZodType<ApiField> = z.lazy(() =>
  z.looseObject({
    name: z.string(),
    type: z.string(),
    mode: z.string().optional(),
    description: z.string().optional(),
    maxLength: z.string().optional(),
    precision: z.string().optional(),
    scale: z.string().optional(),
    fields: z.array(fieldSchema).optional(),
  }),
);

/** The API has the names of legacy SQL; these are those of GoogleSQL. */
const sqlNames: Readonly<Record<string, string>> = {
  INTEGER: 'INT64',
  FLOAT: 'FLOAT64',
  BOOLEAN: 'BOOL',
  RECORD: 'STRUCT',
};

const fieldTypes: Readonly<Record<string, FieldType>> = {
  INT64: 'integer',
  FLOAT64: 'decimal',
  NUMERIC: 'decimal',
  BIGNUMERIC: 'decimal',
  BOOL: 'boolean',
  STRING: 'string',
  TIME: 'string',
  INTERVAL: 'string',
  DATE: 'date',
  DATETIME: 'datetime',
  TIMESTAMP: 'datetime_tz',
};

/** Arrays and structs are `unknown`: their cells are JSON text. */
export function fieldTypeOf({ type, mode }: Pick<ApiField, 'type' | 'mode'>): FieldType {
  return mode === 'REPEATED' ? 'unknown' : (fieldTypes[sqlName(type)] ?? 'unknown');
}

/** The same for a type as `INFORMATION_SCHEMA` spells it, such as `NUMERIC(10, 2)`. */
export function fieldTypeOfSql(nativeType: string): FieldType {
  return fieldTypes[nativeType.replace(/\(.*$/s, '').toUpperCase()] ?? 'unknown';
}

/** As SQL spells it, such as `ARRAY<STRUCT<sku STRING, price NUMERIC(10, 2)>>`. */
export function nativeTypeOf(field: ApiField): string {
  const { maxLength, precision, scale, fields = [] } = field;
  const inside = fields.map((inner) => `${inner.name} ${nativeTypeOf(inner)}`).join(', ');
  const sizes = [maxLength ?? precision, scale].filter((size) => size !== undefined).join(', ');
  const name = sqlName(field.type);
  const single = `${name}${inside === '' ? '' : `<${inside}>`}${sizes === '' ? '' : `(${sizes})`}`;
  return field.mode === 'REPEATED' ? `ARRAY<${single}>` : single;
}

function sqlName(type: string): string {
  return sqlNames[type] ?? type;
}

/** The cell of a value in the `f`/`v` rows of the API: texts, nested in arrays and structs. */
export function bigqueryCell(value: unknown, field: ApiField): Cell {
  const isNested = field.mode === 'REPEATED' || sqlName(field.type) === 'STRUCT';
  if (value === null || value === undefined) return null;
  return isNested ? JSON.stringify(nestedValue(value, field)) : scalarCell(value, field);
}

type NestedValue = Cell | readonly NestedValue[] | { readonly [name: string]: NestedValue };

function nestedValue(value: unknown, field: ApiField): NestedValue {
  if (value === null || value === undefined) return null;
  if (field.mode === 'REPEATED') {
    const single = { ...field, mode: undefined };
    return arraySchema.parse(value).map((element) => nestedValue(element.v, single));
  }
  if (sqlName(field.type) !== 'STRUCT') return scalarCell(value, field);
  const { f: parts } = rowSchema.parse(value);
  const { fields = [] } = field;
  return Object.fromEntries(
    fields.map((inner, index) => [inner.name, nestedValue(parts[index]?.v, inner)]),
  );
}

const arraySchema = z.array(z.object({ v: z.unknown() }));
/** A row, and the value of a struct. */
export const rowSchema = z.object({ f: arraySchema });

function scalarCell(value: unknown, { type }: ApiField): Cell {
  if (typeof value !== 'string') return JSON.stringify(value);
  switch (sqlName(type)) {
    case 'INT64':
      return /^-?\d+$/.test(value) ? integerCell(BigInt(value)) : value;
    case 'FLOAT64':
      return floatCell(value);
    case 'NUMERIC':
    case 'BIGNUMERIC':
      return decimalCell(value);
    case 'BOOL':
      return value.toLowerCase() === 'true';
    case 'DATETIME':
      return withoutZeros(value.replace('T', ' '));
    case 'TIMESTAMP':
      return instantCell(value);
    case 'BYTES':
      return `\\x${Buffer.from(value, 'base64').toString('hex')}`;
    default:
      return value;
  }
}

const infinities: Readonly<Record<string, string>> = {
  nan: 'NaN',
  inf: 'Infinity',
  '+inf': 'Infinity',
  '-inf': '-Infinity',
};

function floatCell(text: string): Cell {
  return infinities[text.toLowerCase()] ?? doubleCell(Number(text));
}

/** ktx asks for microseconds since 1970; without that, the API sends seconds as a double. */
function instantCell(text: string): Cell {
  if (!/^-?\d+$/.test(text)) return text;
  const micros = BigInt(text);
  const million = 1_000_000n;
  const fraction = ((micros % million) + million) % million;
  const milliseconds = Number((micros - fraction) / 1000n);
  const [seconds = ''] = new Date(milliseconds).toISOString().split('.');
  return `${withoutZeros(`${seconds}.${fraction.toString().padStart(6, '0')}`)}Z`;
}

/** A time without the zeros at the end of its fraction. */
function withoutZeros(time: string): string {
  return time.includes('.') ? time.replace(/\.?0+$/, '') : time;
}
