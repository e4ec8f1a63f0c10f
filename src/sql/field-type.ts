/** The types of fields. `unknown` stands for every other native type (json, geometry…). */
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
