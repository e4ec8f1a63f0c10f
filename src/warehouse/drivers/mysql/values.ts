import type { FieldPacket } from 'mysql2';
import type { FieldType } from '../../../sql/field-type.ts';
import { decimalCell, integerCell } from '../../result/number-cells.ts';
import type { Cell } from '../../warehouse.ts';

/** `nativeType` is spelled as the engine prints it, e.g. `tinyint(1)`. */
export function declaredType(nativeType: string): FieldType {
  if (/^(tinyint|bit)\(1\)/.test(nativeType)) return 'boolean';
  if (/^(tiny|small|medium|big)?int|^year/.test(nativeType)) return 'integer';
  if (/^(decimal|float|double)/.test(nativeType)) return 'decimal';
  if (
    /^(var)?char|text|^(enum|set|uuid|inet[46]|time)\b/.test(nativeType) &&
    !nativeType.startsWith('timestamp')
  )
    return 'string';
  if (nativeType.startsWith('timestamp')) return 'datetime_tz';
  if (nativeType.startsWith('datetime')) return 'datetime';
  return nativeType.startsWith('date') ? 'date' : 'unknown';
}

/** The protocol's number of the character set of binary columns. */
const binary = 63;
/** The protocol's numbers of column types. */
const [tiny, float, none, bit, json, geometry] = [1, 4, 6, 16, 245, 255];
/** The scale of a number whose declaration gives none. */
const notFixed = 31;

const typesByCode: Readonly<Record<number, FieldType>> = {
  [tiny]: 'integer',
  2: 'integer',
  3: 'integer',
  8: 'integer',
  9: 'integer',
  13: 'integer',
  0: 'decimal',
  [float]: 'decimal',
  5: 'decimal',
  246: 'decimal',
  7: 'datetime_tz',
  10: 'date',
  11: 'string',
  12: 'datetime',
  14: 'date',
  [none]: 'unknown',
  [bit]: 'unknown',
  [json]: 'unknown',
  [geometry]: 'unknown',
};

/** The type of a result column. */
export function fieldType({
  columnType = none,
  columnLength,
  characterSet,
}: FieldPacket): FieldType {
  if (columnLength === 1 && (columnType === tiny || columnType === bit)) return 'boolean';
  const known = typesByCode[columnType];
  if (known !== undefined) return known;
  return characterSet === binary ? 'unknown' : 'string';
}

/**
 * True if the server may have left digits out: it writes a FLOAT without fixed scale with six
 * digits.
 */
export function isRoundedFloat(
  bytes: Buffer | null,
  { columnType, decimals }: FieldPacket,
): boolean {
  if (bytes === null || columnType !== float || decimals < notFixed) return false;
  const [mantissa = ''] = bytes.toString('latin1').split('e');
  return mantissa.replaceAll(/\D/g, '').replace(/^0+/, '').length >= 6;
}

/** Reads the server's text format, in time zone UTC. */
export function mysqlCell(bytes: Buffer | null, field: FieldPacket, type: FieldType): Cell {
  if (bytes === null) return null;
  if (field.columnType === bit)
    return type === 'boolean' ? bytes[0] === 1 : integerCell(BigInt(`0x${bytes.toString('hex')}`));
  if (field.columnType === json) return bytes.toString('utf8');
  if (type === 'unknown') return `\\x${bytes.toString('hex')}`;
  const text = bytes.toString('utf8');
  if (type === 'boolean') return text === '0' || text === '1' ? text === '1' : Number(text);
  if (type === 'integer') return integerCell(BigInt(text));
  if (type === 'decimal') return decimalCell(text);
  if (type !== 'datetime' && type !== 'datetime_tz') return text;
  const withoutTrailingZeros = text
    .replace(/\.?0*$/, (zeros) => (zeros.startsWith('.') ? '' : zeros))
    .replace(/(\.\d*?)0+$/, '$1');
  // The zero date is no point in time that ISO 8601 could spell.
  return type === 'datetime_tz' && !text.startsWith('0000-00-00')
    ? withoutTrailingZeros.replace(/^(\S+) (\S+)$/, '$1T$2Z')
    : withoutTrailingZeros;
}
