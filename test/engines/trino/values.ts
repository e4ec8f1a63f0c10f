import { floatCell } from '../../../src/warehouse/result/number-cells.ts';
import type { EngineColumn } from '../duckdb-rows.ts';

const names: Readonly<Record<string, string>> = {
  UTINYINT: 'smallint',
  USMALLINT: 'integer',
  UINTEGER: 'bigint',
  // A sum of integers; Trino's is a bigint.
  HUGEINT: 'bigint',
  UBIGINT: 'bigint',
  FLOAT: 'real',
  BLOB: 'varbinary',
  TIME: 'time(6)',
  TIMESTAMP: 'timestamp(6)',
  TIMESTAMP_S: 'timestamp(0)',
  TIMESTAMP_MS: 'timestamp(3)',
  TIMESTAMP_NS: 'timestamp(9)',
  'TIMESTAMP WITH TIME ZONE': 'timestamp(6) with time zone',
  SQLNULL: 'unknown',
};

/** Trino's spelling of a type of DuckDB. */
export function trinoType(type: string): string {
  return names[type] ?? type.toLowerCase().replace(/^(decimal\(\d+), ?/, '$1,');
}

/** A column as an answer describes it. */
export function describeColumn({ name, type }: EngineColumn): object {
  const spelling = trinoType(type);
  const [, numbers = ''] = /\(([\d,]*)\)/.exec(spelling) ?? [];
  const values = numbers === '' ? [] : numbers.split(',').map(Number);
  return {
    name,
    type: spelling,
    typeSignature: {
      rawType: spelling.replace(/\([\d,]*\)/, ''),
      arguments: values.map((value) => ({ kind: 'LONG', value })),
    },
  };
}

/** A value as JSON text: numbers with all their digits, decimals and times as text. */
export function valueJson(text: string | null, type: string): string {
  if (text === null) return 'null';
  const spelling = trinoType(type);
  if (/^(?:bigint|integer|smallint|tinyint|boolean)$/.test(spelling)) return text;
  if (spelling === 'real' && Number.isFinite(Number(text))) return String(floatCell(Number(text)));
  if (spelling === 'double' || spelling === 'real')
    return Number.isFinite(Number(text)) ? withFraction(text) : JSON.stringify(text);
  return JSON.stringify(spelling.startsWith('timestamp') ? timeText(text, spelling) : text);
}

/** As Java writes a double. */
function withFraction(text: string): string {
  return /^-?\d+$/.test(text) ? `${text}.0` : text;
}

function timeText(text: string, spelling: string): string {
  const [, clock = text, fraction = ''] = /^([^.+]*)(?:\.(\d+))?/.exec(text) ?? [];
  const precision = Number(/\((\d+)\)/.exec(spelling)?.[1] ?? 3);
  const digits = precision === 0 ? '' : `.${fraction.padEnd(precision, '0').slice(0, precision)}`;
  return `${clock}${digits}${spelling.endsWith('zone') ? ' UTC' : ''}`;
}
