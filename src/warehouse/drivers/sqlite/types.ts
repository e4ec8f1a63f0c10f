import type { FieldType } from '../../../sql/field-type.ts';

/** A declared type by its name, then by SQLite's affinity rules (INT, then CHAR/CLOB/TEXT, then REAL/FLOA/DOUB, else numeric). */
export function declaredType(declared: string): FieldType {
  const name = declared.toUpperCase();
  if (/BOOL/.test(name)) return 'boolean';
  if (/TIMESTAMPTZ|TIME ZONE/.test(name)) return 'datetime_tz';
  if (/DATETIME|TIMESTAMP/.test(name)) return 'datetime';
  if (/^DATE\b/.test(name)) return 'date';
  if (/INT/.test(name)) return 'integer';
  if (/CHAR|CLOB|TEXT|UUID|STRING/.test(name)) return 'string';
  if (/REAL|FLOA|DOUB|NUMERIC|DECIMAL|NUMBER|MONEY/.test(name)) return 'decimal';
  if (/TIME/.test(name)) return 'string';
  return 'unknown';
}
