import type { FieldType } from '../../sql/field-type.ts';

/** What a column's values look like, independent of the declared type. */
export type ValueKind =
  | (typeof kindPatterns)[number][0]
  | 'empty'
  | 'name'
  | 'text'
  | 'code'
  | 'binary';

/** Kinds that a pattern detects; the first match wins. */
const kindPatterns = [
  ['uuid', /^\{?[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}\}?$/i],
  ['card', /^(?:\d{4}[ -]?){3}\d{1,7}$/],
  ['integer', /^[+-]?\d{1,19}(?:\.0+)?$/],
  ['number', /^[+-]?\d*\.?\d+(?:e[+-]?\d+)?$/i],
  ['date', /^\d{4}-\d{2}-\d{2}(?:[ T]\d{2}:\d{2}.*)?$/],
  ['email', /^[^@\s]+@[^@\s]+\.[^@\s]+$/],
  ['url', /^(?:https?:\/\/|www\.)\S+$/i],
  ['phone', /^\+?\(?\d[\d\s().\-/]{5,}\d$/],
  ['boolean', /^(?:true|false|yes|no|t|f|y|n)$/i],
] as const;

/** Kinds of text columns that can be keys or references. */
const comparableTextKinds: ReadonlySet<ValueKind> = new Set([
  'integer',
  'uuid',
  'code',
  'name',
  'phone',
  'email',
  'empty',
  'text',
]);

/**
 * Columns of one family can hold the same values. Undefined if the column can be neither a key nor
 * a reference.
 */
export function comparisonFamily(
  type: FieldType,
  kind: ValueKind,
): 'integer' | 'text' | 'date' | undefined {
  if (type === 'integer' || (type === 'decimal' && kind === 'integer')) return 'integer';
  if (type === 'date') return 'date';
  return type === 'string' && comparableTextKinds.has(kind) ? 'text' : undefined;
}

/** The kind that at least 90 % of the sampled values have. */
export function detectValueKind(values: readonly string[], columnName: string): ValueKind {
  if (values.length === 0) return 'empty';
  const enough = values.length * 0.9;
  const kind = kindPatterns.find(
    ([, pattern]) => values.filter((value) => pattern.test(value.trim())).length >= enough,
  )?.[0];
  if (kind !== undefined)
    return kind === 'card' && values.filter(isCard).length < enough ? 'integer' : kind;
  if (
    /name|surname|contact|recipient/i.test(columnName) &&
    values.some((value) => /\p{L}/u.test(value))
  )
    return 'name';
  const averageWords =
    values.reduce((sum, value) => sum + value.trim().split(/\s+/).length, 0) / values.length;
  return averageWords > 2 || values.some((value) => value.length > 64) ? 'text' : 'code';
}

/** Luhn's check. Without it long ids would count as card numbers. */
function isCard(value: string): boolean {
  const digits = value.replaceAll(/\D/g, '').split('').toReversed().map(Number);
  const doubled = digits.map((digit, index) =>
    index % 2 === 0 ? digit : ((digit * 2) % 10) + Math.floor(digit / 5),
  );
  return (
    digits.length >= 13 &&
    digits.length <= 19 &&
    doubled.reduce((sum, digit) => sum + digit, 0) % 10 === 0
  );
}
