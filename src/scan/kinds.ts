export const valueKinds = ['empty', 'integer', 'number', 'boolean', 'uuid', 'email', 'url', 'phone', 'card', 'date', 'name', 'code', 'text', 'binary'] as const; // prettier-ignore
/** What a column's values look like, whatever its declared type. */
export type ValueKind = (typeof valueKinds)[number];

const patterns: readonly (readonly [ValueKind, RegExp])[] = [
  ['uuid', /^\{?[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}\}?$/i],
  ['card', /^(?:\d{4}[ -]?){3}\d{1,7}$/],
  ['integer', /^[+-]?\d{1,19}(?:\.0+)?$/],
  ['number', /^[+-]?\d*\.?\d+(?:e[+-]?\d+)?$/i],
  ['date', /^\d{4}-\d{2}-\d{2}(?:[ T]\d{2}:\d{2}.*)?$/],
  ['email', /^[^@\s]+@[^@\s]+\.[^@\s]+$/],
  ['url', /^(?:https?:\/\/|www\.)\S+$/i],
  ['phone', /^\+?\(?\d[\d\s().\-/]{5,}\d$/],
  ['boolean', /^(?:true|false|yes|no|t|f|y|n)$/i],
];

/** The kind that nearly all of the sampled values share. */
export function kindOf(values: readonly string[], columnName: string): ValueKind {
  if (values.length === 0) return 'empty';
  const most = values.length * 0.9;
  for (const [kind, pattern] of patterns) {
    if (values.filter((value) => pattern.test(value.trim())).length >= most) return kind === 'card' && !isCard(values) ? 'integer' : kind;
  }
  if (/name|surname|contact|recipient/i.test(columnName) && values.some((value) => /\p{L}/u.test(value))) return 'name';
  const words = values.reduce((sum, value) => sum + value.trim().split(/\s+/).length, 0) / values.length;
  return words > 2 || values.some((value) => value.length > 64) ? 'text' : 'code';
}

/** Kinds whose values may identify a person, or are prose: never stored in the clear. */
export function isPersonal(kind: ValueKind): boolean {
  return kind === 'email' || kind === 'phone' || kind === 'card' || kind === 'name' || kind === 'text';
}

/** `a***` with the length's order of magnitude kept: enough to recognise, too little to identify. */
export function masked(value: string): string {
  return `${value.slice(0, 1)}***`;
}

/** Luhn's check over most of the values: long integers are ids more often than cards. */
function isCard(values: readonly string[]): boolean {
  const passing = values.filter((value) => {
    const digits = [...value.replaceAll(/\D/g, '')].reverse().map(Number);
    const sum = digits.reduce((total, digit, index) => total + (index % 2 === 0 ? digit : digit > 4 ? digit * 2 - 9 : digit * 2), 0);
    return digits.length >= 13 && digits.length <= 19 && sum % 10 === 0;
  });
  return passing.length >= values.length * 0.9;
}
