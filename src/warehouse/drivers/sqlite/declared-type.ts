import type { FieldType } from '../../../sql/field-type.ts';

/**
 * The field type of a column's declared type: well-known names first, then SQLite's affinity rules.
 */
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
