import type { FieldType } from '../../../sql/field-type.ts';

/** `nativeType` is spelled as DuckDB prints it. */
export function fieldType(nativeType: string): FieldType {
  if (/\]$|^(STRUCT|MAP|UNION)\(/.test(nativeType)) return 'unknown';
  if (/^(U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|BIGNUM)$/.test(nativeType)) return 'integer';
  if (/^(DECIMAL|DOUBLE|FLOAT)/.test(nativeType)) return 'decimal';
  if (/^(VARCHAR|ENUM|UUID|TIME(_NS)?\b)/.test(nativeType) && !nativeType.startsWith('TIMESTAMP'))
    return 'string';
  if (nativeType === 'BOOLEAN') return 'boolean';
  if (nativeType === 'DATE') return 'date';
  if (nativeType === 'TIMESTAMP WITH TIME ZONE') return 'datetime_tz';
  return nativeType.startsWith('TIMESTAMP') ? 'datetime' : 'unknown';
}
