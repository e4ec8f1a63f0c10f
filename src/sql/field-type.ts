/** What a field can be, in the words of the semantic layer. `unknown` is a native type that has no such word (json, geometry…). */
export const fieldTypes = [
  'string',
  'integer',
  'decimal',
  'boolean',
  'date',
  'datetime',
  'datetime_tz',
  'unknown',
] as const;
export type FieldType = (typeof fieldTypes)[number];
