import { z } from 'zod';

export const allowFunctionsSchema = z
  .array(z.string().regex(/^[\w.]+$/, 'a function name, without parentheses'))
  .optional()
  .describe(
    'More SQL functions that queries may call. List only functions that compute a value: ktx cannot check what they do.',
  );
