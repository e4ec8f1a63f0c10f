import {
  DuckDBBlobValue,
  DuckDBDecimalValue,
  DuckDBTimestampTZValue,
  DuckDBTimestampValue,
  type DuckDBValue,
} from '@duckdb/node-api';
import type { FieldType } from '../../../sql/field-type.ts';
import { decimalCell, integerCell } from '../../number-cells.ts';
import type { Cell } from '../../warehouse.ts';

/** `nativeType` is spelled as DuckDB prints it. */
export function fieldType(nativeType: string): FieldType {
  if (/\]$|^(STRUCT|MAP|UNION)\(/.test(nativeType)) return 'unknown';
  if (/^(U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|BIGNUM)$/.test(nativeType)) return 'integer';
  if (/^(DECIMAL|DOUBLE|FLOAT)/.test(nativeType)) return 'decimal';
  if (/^(VARCHAR|ENUM|UUID|TIME\b)/.test(nativeType)) return 'string';
  if (nativeType === 'BOOLEAN') return 'boolean';
  if (nativeType === 'DATE') return 'date';
  if (nativeType === 'TIMESTAMP WITH TIME ZONE') return 'datetime_tz';
  return nativeType.startsWith('TIMESTAMP') ? 'datetime' : 'unknown';
}

/** Lists, structs and maps become JSON text; a timestamp with time zone is in UTC. */
export function duckdbCell(value: DuckDBValue): Cell {
  const json = jsonValue(value);
  return typeof json === 'object' && json !== null ? JSON.stringify(json) : json;
}

type JsonValue = Cell | readonly JsonValue[] | { readonly [key: string]: JsonValue };

function jsonValue(value: DuckDBValue): JsonValue {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (typeof value === 'bigint') return integerCell(value);
  if (value instanceof DuckDBDecimalValue) return decimalCell(value.toString());
  if (value instanceof DuckDBTimestampTZValue)
    return new DuckDBTimestampValue(value.micros).toString().replace(/^(\S+) ([\d:.]+)$/, '$1T$2Z');
  if (value instanceof DuckDBBlobValue) return `\\x${Buffer.from(value.bytes).toString('hex')}`;
  if ('items' in value) return value.items.map(jsonValue);
  if (!('entries' in value)) return String(value);
  if (!Array.isArray(value.entries))
    return Object.fromEntries(
      Object.entries(value.entries).map(([key, item]) => [key, jsonValue(item)]),
    );
  return Object.fromEntries(
    value.entries.map(({ key, value: item }) => [String(duckdbCell(key)), jsonValue(item)]),
  );
}
