import type { EngineColumn } from '../duckdb-rows.ts';

const names: Readonly<Record<string, string>> = {
  INTEGER: 'INT',
  // A sum of integers is a BIGINT.
  HUGEINT: 'BIGINT',
  UBIGINT: 'BIGINT',
  UINTEGER: 'BIGINT',
  VARCHAR: 'STRING',
  BLOB: 'BINARY',
  TIMESTAMP: 'TIMESTAMP_NTZ',
  'TIMESTAMP WITH TIME ZONE': 'TIMESTAMP',
  UUID: 'STRING',
  SQLNULL: 'VOID',
};
const apiNames: Readonly<Record<string, string>> = {
  BIGINT: 'LONG',
  SMALLINT: 'SHORT',
  TINYINT: 'BYTE',
  VOID: 'NULL',
};

/** Databricks' spelling of a type of DuckDB. */
function databricksType(type: string): string {
  return names[type] ?? type;
}

/** A column of a manifest. */
export function describeColumn({ name, type }: EngineColumn, position: number): object {
  const text = databricksType(type);
  const [, base = text, precision, scale] = /^(\w+)(?:\((\d+),(\d+)\))?/.exec(text) ?? [];
  return {
    name,
    type_text: text,
    type_name: apiNames[base] ?? base,
    position,
    ...(precision !== undefined && {
      type_precision: Number(precision),
      type_scale: Number(scale),
    }),
  };
}

/** A value as an answer has it: text. Points in time have the offset of the session. */
export function valueText(text: string | null, type: string): string | null {
  if (text === null) return null;
  const spelling = databricksType(type);
  if (spelling === 'DOUBLE' && /^-?\d+$/.test(text)) return `${text}.0`;
  if (spelling === 'TIMESTAMP_NTZ') return withMilliseconds(text.replace(' ', 'T'));
  if (spelling !== 'TIMESTAMP') return text;
  const instant = Date.parse(`${text.replace(' ', 'T').replace(/\+00$/, '')}Z`);
  const fraction = /\.(\d+)/.exec(text)?.[1] ?? '';
  const wall = new Date(instant - 8 * 3_600_000).toISOString().slice(0, 19);
  return `${withMilliseconds(fraction === '' ? wall : `${wall}.${fraction}`)}-08:00`;
}

function withMilliseconds(text: string): string {
  return text.includes('.') ? text : `${text}.000`;
}
