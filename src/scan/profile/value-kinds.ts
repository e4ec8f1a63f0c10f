import type { FieldType } from '../../sql/field-type.ts';

/** What a column's values look like, whatever its declared type. */
export type ValueKind =
  | (typeof patterns)[number][0]
  | 'empty'
  | 'name'
  | 'text'
  | 'code'
  | 'binary';

const patterns = [
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

const textKinds: ReadonlySet<ValueKind> = new Set([
  'integer',
  'uuid',
  'code',
  'name',
  'phone',
  'email',
  'empty',
  'text',
]);

/** What a column can be compared with; undefined where it can neither be a key nor refer to one. */
export function familyOf(
  type: FieldType,
  kind: ValueKind,
): 'integer' | 'text' | 'date' | undefined {
  if (type === 'integer' || (type === 'decimal' && kind === 'integer')) return 'integer';
  if (type === 'date') return 'date';
  return type === 'string' && textKinds.has(kind) ? 'text' : undefined;
}

/** The kind that nearly all of the sampled values share. */
export function kindOf(values: readonly string[], columnName: string): ValueKind {
  if (values.length === 0) return 'empty';
  const most = values.length * 0.9;
  const found = patterns.find(
    ([, pattern]) => values.filter((value) => pattern.test(value.trim())).length >= most,
  )?.[0];
  if (found !== undefined)
    return found === 'card' && values.filter(isCard).length < most ? 'integer' : found;
  if (
    /name|surname|contact|recipient/i.test(columnName) &&
    values.some((value) => /\p{L}/u.test(value))
  )
    return 'name';
  const words =
    values.reduce((sum, value) => sum + value.trim().split(/\s+/).length, 0) / values.length;
  return words > 2 || values.some((value) => value.length > 64) ? 'text' : 'code';
}

const personal: readonly ValueKind[] = ['email', 'phone', 'card', 'name', 'text'];

/** Kinds whose values may identify a person, or are prose: never stored in the clear. */
export const isPersonal = (kind: ValueKind): boolean => personal.includes(kind);

/**
 * Names of columns whose values identify a person although they look like plain numbers, dates or codes: a telephone number
 * without spaces is an integer like any other.
 */
export function isPersonalName(columnName: string): boolean {
  return personalName.test(columnName.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_'));
}

const personalName =
  /(?:^|[^a-z])(?:e?mail|phone|tele?phone|tel|mobile|cell|fax|ssn|social_sec\w*|passport|national_id|tax_id|iban|pan|card_(?:no|num\w*)|account_(?:no|num\w*)|birth\w*|date_of_birth|dob|password|passwd|pwd|secret|token|user_?name|login|street|address\d?|postal_?code|postcode|zip|ip|salary|wages?|plate|licen[cs]e_plate|diagnosis|api_?key|assigned_to|assignee|employee|manager|author|created_by|updated_by|modified_by|geburt\w*|passwort|kennwort|gehalt|diagnose|kennzeichen|strasse|straße|plz|vorname|nachname|mitarbeiter\w*|telefon\w*)(?![a-z])|(?:first|last|full|sur|given|family|nick)_?name/i;

/** A value that may tell a person, whatever its column is called: an address of mail in it, a long number, a full name. */
export function looksPersonal(value: string): boolean {
  return (
    /\S@\S+\.\S/.test(value) ||
    /\d[\d .()/-]{6,}\d/.test(value) ||
    /^\p{Lu}\p{Ll}+(?:[ -]\p{Lu}[\p{Ll}.]*){1,3}$/u.test(value.trim())
  );
}

/** Luhn's check: long integers are ids more often than cards. */
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
