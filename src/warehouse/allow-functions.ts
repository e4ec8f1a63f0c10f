import { z } from 'zod';

export const allowFunctionsSchema = z
  .array(z.string().regex(/^[\w.]+$/, 'a function name, without parentheses'))
  .optional()
  .describe(
    'Further SQL functions that queries may call. Only functions that compute: ktx cannot check what they do.',
  );
