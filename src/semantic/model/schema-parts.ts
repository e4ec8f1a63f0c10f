import { z } from 'zod';

/** Field, metric, segment and role names: what a query can write without quotes. */
export const nameSchema = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'a name has letters, digits and _ only');

export const expressionSchema = z
  .union([z.string().min(1), z.record(z.string(), z.string().min(1))])
  .describe(
    'A SQL expression in the dialect of the connection. For several dialects: a map from dialect to expression, with a `default`.',
  );
export type ExpressionText = z.infer<typeof expressionSchema>;

export const synonymsSchema = z
  .array(z.string())
  .optional()
  .describe('Other words that people use for this.');
export const descriptionSchema = z.string().optional().describe('What this means, in plain words.');
export const ownerSchema = z
  .string()
  .min(1)
  .optional()
  .describe('Who answers for this: a person or a team.');
export const hiddenSchema = z
  .boolean()
  .optional()
  .describe('If true, queries cannot use this; other definitions in the model can.');

export const extensionsSchema = z
  .record(z.string(), z.json())
  .optional()
  .describe(
    'Settings of other formats that ktx has no key for, by format. They are kept for export.',
  );

const periodPattern = /^\d+ (second|minute|hour|day|week|month|quarter|year)s?$/;
export const periodSchema = z.string().regex(periodPattern, 'a number and a period, like `1 year`');
