import { z } from 'zod';

const decided = { subject: z.string().min(1), kind: z.string().min(1) };
/** The ids of what was on the screen. */
const seen = z.array(z.string().min(1)).min(1).max(500);
const why = z.string().max(10_000).optional();

/** What a person decides about a conflict that they see. */
export const decisionSchema = z.discriminatedUnion('verb', [
  z.strictObject({ verb: z.literal('choose'), ...decided, version: z.string(), why, seen }),
  z.strictObject({ verb: z.literal('edit'), ...decided, definition: z.string().min(1), why, seen }),
  z.strictObject({ verb: z.literal('defer'), ...decided, until: z.string().optional(), why, seen }),
  z.strictObject({ verb: z.literal('undo'), ...decided, seen }),
]);
export type Decision = z.infer<typeof decisionSchema>;
