import type { FieldType } from '../../../sql/field-type.ts';
import type { WireValues } from '../../postgres-wire/limited-query.ts';
import { fieldType, postgresCell } from '../../postgres-wire/values.ts';

const float4 = 700;
const float8 = 701;

/**
 * Floating-point numbers arrive with more digits than they need, so that none is lost: 0.1 as
 * 0.10000000000000001.
 */
export const redshiftValues: WireValues = {
  fieldType,
  cell: (text, type, oid) => {
    const isFloat = (oid === float4 || oid === float8) && text !== null;
    const number = Number(isFloat ? text : Number.NaN);
    if (!Number.isFinite(number)) return postgresCell(text, type);
    return oid === float4 ? shortestFloat(number) : number;
  },
};

/** The shortest decimal number that is this one in 32 bits. */
function shortestFloat(number: number): number {
  const rounded = [6, 7, 8].map((digits) => Number(number.toPrecision(digits)));
  return rounded.find((short) => Math.fround(short) === Math.fround(number)) ?? number;
}

const typesByName: Readonly<Record<string, FieldType>> = {
  smallint: 'integer',
  integer: 'integer',
  int: 'integer',
  bigint: 'integer',
  oid: 'integer',
  numeric: 'decimal',
  decimal: 'decimal',
  real: 'decimal',
  float: 'decimal',
  double: 'decimal',
  'double precision': 'decimal',
  boolean: 'boolean',
  character: 'string',
  char: 'string',
  'character varying': 'string',
  varchar: 'string',
  nvarchar: 'string',
  string: 'string',
  text: 'string',
  name: 'string',
  'time without time zone': 'string',
  time: 'string',
  date: 'date',
  'timestamp without time zone': 'datetime',
  timestamp: 'datetime',
  'timestamp with time zone': 'datetime_tz',
};

/** `name` as SVV_COLUMNS has it; external tables write lengths into it: `varchar(20)`. */
export function fieldTypeNamed(name: string): FieldType {
  return typesByName[name.replace(/\(.*$/, '').trim().toLowerCase()] ?? 'unknown';
}
