import {
  DuckDBArrayType,
  DuckDBArrayValue,
  DuckDBBlobValue,
  DuckDBDecimalValue,
  DuckDBGeometryValue,
  DuckDBListType,
  DuckDBListValue,
  DuckDBMapType,
  DuckDBMapValue,
  DuckDBStructType,
  DuckDBStructValue,
  DuckDBTimestampTZValue,
  DuckDBTimestampValue,
  type DuckDBType,
  DuckDBTypeId,
  DuckDBUnionType,
  DuckDBUnionValue,
  type DuckDBValue,
} from '@duckdb/node-api';
import { decimalCell, doubleCell, floatCell, integerCell } from '../../result/number-cells.ts';
import type { Cell } from '../../warehouse.ts';

/**
 * Replaces the names of struct fields by their positions. The library makes an object of each
 * struct, which would lose fields without a name, as in `row(1, 2)`, and a field called
 * `__proto__`. Call it with the type of each vector of a chunk; `duckdbCell` takes the names from
 * its own `type`.
 */
export function numberStructFields(type: DuckDBType): void {
  if (type instanceof DuckDBStructType) {
    const names = type.entryNames as string[];
    for (const index of names.keys()) names[index] = String(index);
  }
  for (const inner of innerTypes(type)) numberStructFields(inner);
}

function innerTypes(type: DuckDBType): readonly DuckDBType[] {
  if (type instanceof DuckDBStructType) return type.entryTypes;
  if (type instanceof DuckDBUnionType) return type.memberTypes;
  if (type instanceof DuckDBMapType) return [type.keyType, type.valueType];
  const isList = type instanceof DuckDBListType || type instanceof DuckDBArrayType;
  return isList ? [type.valueType] : [];
}

/**
 * Lists, structs and maps become JSON text; a timestamp with time zone is in UTC. Values come from
 * vectors whose struct fields are numbered; `type` has their names.
 */
export function duckdbCell(value: DuckDBValue, type: DuckDBType): Cell {
  if (value instanceof DuckDBUnionValue && type instanceof DuckDBUnionType)
    return duckdbCell(value.value, memberType(type, value.tag));
  return nestedText(value, type) ?? scalarCell(value, type);
}

function memberType(type: DuckDBUnionType, tag: string): DuckDBType {
  return type.memberTypes[type.memberTags.indexOf(tag)] ?? type;
}

function jsonText(value: DuckDBValue, type: DuckDBType): string {
  if (value instanceof DuckDBUnionValue && type instanceof DuckDBUnionType)
    return jsonText(value.value, memberType(type, value.tag));
  return nestedText(value, type) ?? JSON.stringify(scalarCell(value, type));
}

/**
 * The JSON text of a list, struct or map; undefined for other values. A struct without names is an
 * array.
 */
function nestedText(value: DuckDBValue, type: DuckDBType): string | undefined {
  const [first = type, second = type] = innerTypes(type);
  if (value instanceof DuckDBListValue || value instanceof DuckDBArrayValue)
    return `[${value.items.map((item) => jsonText(item, first)).join(',')}]`;
  if (value instanceof DuckDBMapValue) {
    const entries = value.entries.map(
      ({ key, value: item }) => `${keyText(key, first)}:${jsonText(item, second)}`,
    );
    return `{${entries.join(',')}}`;
  }
  if (!(value instanceof DuckDBStructValue && type instanceof DuckDBStructType)) return undefined;
  const fields = type.entryTypes.map((fieldsType, index) =>
    jsonText(value.entries[String(index)] ?? null, fieldsType),
  );
  if (type.entryNames.every((name) => name === '')) return `[${fields.join(',')}]`;
  const named = fields.map((field, index) => `${JSON.stringify(type.entryNames[index])}:${field}`);
  return `{${named.join(',')}}`;
}

function keyText(key: DuckDBValue, type: DuckDBType): string {
  return JSON.stringify(String(duckdbCell(key, type)));
}

function scalarCell(value: DuckDBValue, type: DuckDBType): Cell {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (typeof value === 'number')
    return type.typeId === DuckDBTypeId.FLOAT ? floatCell(value) : doubleCell(value);
  if (typeof value === 'bigint') return integerCell(value);
  if (value instanceof DuckDBDecimalValue) return decimalCell(value.toString());
  if (value instanceof DuckDBBlobValue || value instanceof DuckDBGeometryValue)
    return `\\x${Buffer.from(value.bytes).toString('hex')}`;
  if ('isFinite' in value && !value.isFinite) return infinityText(value);
  return value instanceof DuckDBTimestampTZValue ? utcText(value) : String(value);
}

/** The library's own text of an infinite date is a day of the year 5881580. */
function infinityText(value: object): string {
  const [amount] = Object.values(value) as (number | bigint)[];
  return (amount ?? 0) > 0 ? 'infinity' : '-infinity';
}

function utcText({ micros }: DuckDBTimestampTZValue): string {
  const text = new DuckDBTimestampValue(micros).toString();
  const isoText = text.replace(/^(\S+) ([\d:.]+)$/, '$1T$2Z');
  // ISO 8601 has no years before Christ: these are spelled as DuckDB does.
  return isoText === text ? `${text}+00` : isoText;
}
