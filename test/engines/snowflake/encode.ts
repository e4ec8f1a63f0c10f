import type { EngineColumn, EngineRows } from '../duckdb-rows.ts';

interface WireColumn {
  readonly name: string;
  readonly database: string;
  readonly schema: string;
  readonly table: string;
  readonly nullable: boolean;
  readonly byteLength: number | null;
  readonly precision: number | null;
  readonly scale: number | null;
  readonly collation: null;
  readonly type: string;
  readonly length: number | null;
}

export interface WireRows {
  readonly rowType: readonly WireColumn[];
  readonly data: readonly (readonly (string | null)[])[];
}

/** Rows of DuckDB as the SQL API writes them: every value is text. */
export function encodeRows({ columns, rows }: EngineRows): WireRows {
  return {
    rowType: columns.map(wireColumn),
    data: rows.map((row) =>
      row.map((cell, index) =>
        cell === null ? null : encodeCell(cell, columns[index]?.type ?? ''),
      ),
    ),
  };
}

function wireColumn({ name, type }: EngineColumn): WireColumn {
  const [, precision, scale] = /^DECIMAL\((\d+),(\d+)\)$/.exec(type) ?? [];
  const wireType = typeOf(type);
  const isNumber = wireType === 'fixed';
  const isClock = wireType.startsWith('time');
  const isText = wireType === 'text';
  return {
    name,
    database: '',
    schema: '',
    table: '',
    nullable: true,
    byteLength: isText ? 16_777_216 : null,
    precision: isNumber ? Number(precision ?? 38) : isClock ? 0 : null,
    scale: isNumber ? Number(scale ?? 0) : isClock ? 9 : null,
    collation: null,
    type: wireType,
    length: isText ? 16_777_216 : null,
  };
}

function typeOf(type: string): string {
  if (/^(?:U?(?:TINY|SMALL|BIG|HUGE)?INT(?:EGER)?|DECIMAL.*)$/.test(type)) return 'fixed';
  if (/^(?:DOUBLE|FLOAT)$/.test(type)) return 'real';
  if (type === 'BOOLEAN') return 'boolean';
  if (type === 'DATE') return 'date';
  if (type === 'TIME') return 'time';
  if (type === 'TIMESTAMP WITH TIME ZONE') return 'timestamp_tz';
  if (type.startsWith('TIMESTAMP')) return 'timestamp_ntz';
  return type === 'BLOB' ? 'binary' : /[[(]/.test(type) ? 'variant' : 'text';
}

function encodeCell(text: string, type: string): string {
  if (type === 'DATE') return String(Date.parse(`${text}T00:00:00Z`) / 86_400_000);
  if (type === 'TIME') return nanoSeconds(`1970-01-01 ${text}`);
  if (type === 'TIMESTAMP WITH TIME ZONE') return `${nanoSeconds(text.replace(/\+00$/, ''))} 1440`;
  if (type.startsWith('TIMESTAMP')) return nanoSeconds(text);
  if (/^(?:DOUBLE|FLOAT)$/.test(type))
    return { NaN: 'NaN', Infinity: 'inf', '-Infinity': '-inf' }[text] ?? text;
  return type === 'BLOB' ? Buffer.from(text, 'latin1').toString('hex').toUpperCase() : text;
}

function nanoSeconds(text: string): string {
  const [whole = '', fraction = ''] = text.split('.');
  const seconds = Date.parse(`${whole.replace(' ', 'T')}Z`) / 1000;
  const digits = fraction.padEnd(9, '0');
  if (seconds >= 0 || Number(digits) === 0) return `${seconds}.${digits}`;
  // The fraction of a time before 1970 counts backwards.
  return `-${-seconds - 1}.${String(1_000_000_000 - Number(digits)).padStart(9, '0')}`;
}
