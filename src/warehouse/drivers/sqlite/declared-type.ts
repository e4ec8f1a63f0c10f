import type { FieldType } from '../../../sql/field-type.ts';

/** Reads well-known type names first, and applies SQLite's affinity rules to the others. */
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
