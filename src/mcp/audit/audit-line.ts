import { z } from 'zod';

/** What is recorded about one call. */
const entrySchema = z.strictObject({
  /** `started`: before a call that queries or writes. `answered`: before its answer leaves. */
  kind: z.enum(['started', 'answered']),
  call: z.string(),
  /** Whose token it was; undefined without login. */
  person: z.string().optional(),
  /** The id of the token, or of the login. */
  token: z.string().optional(),
  role: z.string().optional(),
  /** The name and version that the client gives itself. */
  client: z.string(),
  /** The trace of the client, as W3C trace context has it. */
  trace: z.string().optional(),
  /** A tool, or the method of the protocol that read something. */
  tool: z.string(),
  arguments_hash: z.string().optional(),
  arguments: z.unknown().optional(),
  connection: z.string().optional(),
  /** Keyed hash of the SQL that ran. */
  sql_hash: z.string().optional(),
  query: z.string().optional(),
  rows: z.int().optional(),
  /** Bytes of the answer. */
  bytes: z.int().optional(),
  ms: z.int().optional(),
  /** `ok`, or the code of the error. */
  outcome: z.string().optional(),
});
export type AuditEntry = z.infer<typeof entrySchema>;

const placeSchema = z.strictObject({
  seq: z.int(),
  /** SHA-256 of the line before, without its end; empty for the first. */
  prev: z.string(),
  at: z.iso.datetime(),
});

/** Says that bytes before it belong to no answer: a line that was being written in a crash. */
const resumedSchema = z.strictObject({
  kind: z.literal('resumed'),
  unfinished_bytes: z.int(),
  unfinished_sha256: z.string(),
});

/** Says that the lines up to that one were removed because of their age, and how the last was. */
const prunedSchema = z.strictObject({
  kind: z.literal('pruned'),
  through: z.int(),
  through_sha256: z.string(),
});
export type PrunedBody = z.infer<typeof prunedSchema>;

export const auditLineSchema = z.union([
  entrySchema.extend(placeSchema.shape),
  resumedSchema.extend(placeSchema.shape),
  prunedSchema.extend(placeSchema.shape),
]);
export type AuditLine = z.infer<typeof auditLineSchema>;

/** The lines of one kind that are about calls. */
export type CallLine = Exclude<AuditLine, { kind: 'resumed' | 'pruned' }>;

/** What the log itself adds to a line is added here. */
export type AuditBody = AuditEntry | z.infer<typeof resumedSchema> | PrunedBody;

/** `2026-11-27.jsonl`: the lines of one day (UTC). */
export const auditFileName = /^\d{4}-\d\d-\d\d\.jsonl$/;
