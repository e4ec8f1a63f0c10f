import type { EngineColumn, EngineRows } from '../duckdb-rows.ts';

/** A column as the API describes it. */
export interface WireField {
  readonly name: string;
  readonly type: string;
  readonly mode: 'NULLABLE' | 'REQUIRED' | 'REPEATED';
  readonly description?: string;
  readonly precision?: string;
  readonly scale?: string;
  readonly fields?: readonly WireField[];
}

const types: Readonly<Record<string, string>> = {
  VARCHAR: 'STRING',
  UUID: 'STRING',
  BOOLEAN: 'BOOLEAN',
  DOUBLE: 'FLOAT',
  FLOAT: 'FLOAT',
  DATE: 'DATE',
  TIME: 'TIME',
  TIMESTAMP: 'DATETIME',
  'TIMESTAMP WITH TIME ZONE': 'TIMESTAMP',
  BLOB: 'BYTES',
  JSON: 'JSON',
};

/** The names of legacy SQL, as the API sends them. */
export function wireField({ name, type }: EngineColumn): WireField {
  const array = /^(.*)\[\]$/s.exec(type)?.[1];
  if (array !== undefined) return { ...wireField({ name, type: array }), mode: 'REPEATED' };
  const inside = /^STRUCT\((.*)\)$/s.exec(type)?.[1];
  if (inside !== undefined)
    return { name, type: 'RECORD', mode: 'NULLABLE', fields: splitFields(inside).map(wireField) };
  const [, precision, scale] = /^DECIMAL\((\d+),(\d+)\)$/.exec(type) ?? [];
  if (precision !== undefined && scale !== undefined)
    return { name, type: 'NUMERIC', mode: 'NULLABLE', precision, scale };
  const isInteger = /^U?(?:TINY|SMALL|BIG|HUGE)?INT(?:EGER)?$/.test(type);
  return { name, type: isInteger ? 'INTEGER' : (types[type] ?? 'STRING'), mode: 'NULLABLE' };
}

/** `"a" INTEGER, "b" STRUCT("c" VARCHAR)` */
function splitFields(text: string): EngineColumn[] {
  const parts = [''];
  let depth = 0;
  for (const character of text) {
    if (character === '(') depth += 1;
    if (character === ')') depth -= 1;
    if (character === ',' && depth === 0) parts.push('');
    else parts[parts.length - 1] += character;
  }
  return parts.map((part) => {
    const [, name = '', type = ''] = /^\s*"?([^" ]+)"?\s+(.*)$/s.exec(part) ?? [];
    return { name, type };
  });
}

export interface WireRow {
  readonly f: readonly { readonly v: unknown }[];
}

/** Rows as `f` and `v`: all texts; arrays and structs are JSON in DuckDB's answer. */
export function wireRows({ rows }: EngineRows, fields: readonly WireField[], hasInt64: boolean) {
  return rows.map((row): WireRow => ({
    f: row.map((text, index) => {
      const field = fields[index];
      // An array that is NULL is sent as an empty one.
      if (text === null || field === undefined)
        return { v: field?.mode === 'REPEATED' ? [] : null };
      return { v: wireValue(text, field, hasInt64) };
    }),
  }));
}

function wireValue(text: string, field: WireField, hasInt64: boolean): unknown {
  if (field.mode === 'REPEATED' || field.type === 'RECORD')
    return nestedValue(JSON.parse(text), field);
  if (field.type === 'DATETIME') return text.replace(' ', 'T');
  if (field.type === 'BYTES') return bytesOf(text).toString('base64');
  return field.type === 'TIMESTAMP' ? instant(text, hasInt64) : text;
}

function nestedValue(value: unknown, field: WireField): unknown {
  if (value === null) return null;
  if (field.mode === 'REPEATED')
    return (value as unknown[]).map((element) => ({
      v: nestedValue(element, { ...field, mode: 'NULLABLE' }),
    }));
  if (field.type !== 'RECORD') return typeof value === 'string' ? value : JSON.stringify(value);
  const record = value as Record<string, unknown>;
  return {
    f: (field.fields ?? []).map((inner) => ({ v: nestedValue(record[inner.name], inner) })),
  };
}

/** DuckDB writes bytes that are no printable ASCII as `\xAB`. */
function bytesOf(text: string): Buffer {
  const parts = text.matchAll(/\\x([0-9A-Fa-f]{2})|([^])/gu);
  return Buffer.concat(
    Array.from(parts, ([, hex, character = '']) =>
      hex === undefined ? Buffer.from(character) : Buffer.from(hex, 'hex'),
    ),
  );
}

/** Microseconds, if the client asks for them; else seconds as a double, which loses some. */
function instant(text: string, hasInt64: boolean): string {
  const [, clock = '', fraction = ''] = /^([^.+]*)(?:\.(\d+))?/.exec(text) ?? [];
  const seconds = Date.parse(`${clock.replace(' ', 'T')}Z`) / 1000;
  const micros = BigInt(seconds) * 1_000_000n + BigInt(fraction.padEnd(6, '0').slice(0, 6));
  return hasInt64 ? micros.toString() : String(Number(micros) / 1e6);
}
