import { z } from 'zod';
import { outcomes } from './outcome.ts';

const outcomeSchema = z.enum(outcomes);

const gradedTurnSchema = z.object({
  question: z.string(),
  outcome: outcomeSchema,
  answer: z.string(),
  stop_reason: z.string(),
  findings: z.array(
    z.object({
      grader: z.string(),
      outcome: outcomeSchema,
      found: z.string(),
      nearest: z.string().optional(),
      query: z.string().optional(),
    }),
  ),
  /** Only the number of rows: the rows themselves stay in the warehouse. */
  queries: z.array(
    z.object({
      id: z.string(),
      tool: z.string(),
      /** The input of the call, as JSON: what a semantic query asked. */
      request: z.string().optional(),
      /** Where it ran; older runs do not say it. */
      connection: z.string().optional(),
      sql: z.string().optional(),
      metrics: z.array(z.string()),
      rows: z.number(),
      truncated: z.boolean(),
    }),
  ),
  tools: z.array(z.object({ name: z.string(), ok: z.boolean() })),
  golden_sql: z.string().optional(),
  tokens: z.number(),
  /** Null if the price of the model is unknown. */
  cost_usd: z.number().nullable(),
  ms: z.number(),
});

const attemptSchema = z.object({ outcome: outcomeSchema, turns: z.array(gradedTurnSchema) });

/** What the answers depend on; see fingerprint.ts. */
const contextSchema = z.object({
  commit: z.string().optional(),
  uncommitted: z.array(z.string()),
  semantic_layer: z.string(),
  wiki: z.string(),
  questions: z.string(),
  agents: z.array(
    z.object({ name: z.string(), hash: z.string(), backend: z.string(), model: z.string() }),
  ),
});

const caseResultSchema = z.object({
  id: z.string(),
  tags: z.array(z.string()),
  /** Who was asked; older runs do not say. */
  agent: z.string().optional(),
  outcome: outcomeSchema,
  /** Some attempts passed, others did not. */
  flaky: z.boolean(),
  attempts: z.array(attemptSchema),
  /** Why the case was skipped. */
  reason: z.string().optional(),
});

/** `.ktx/evals/<id>.attempts.jsonl`: what a run has paid for, before it ends. */
export const attemptLogSchemas = {
  /** The first line. */
  header: z.object({
    version: z.literal(1),
    id: z.string(),
    started: z.string(),
    selection: z.object({
      sets: z.array(z.string()),
      cases: z.array(z.string()).optional(),
      tags: z.array(z.string()).optional(),
      agent: z.string().optional(),
      repeat: z.number().optional(),
      withoutContext: z.boolean(),
      allowSideEffects: z.boolean(),
      /** Of a benchmark. */
      conditions: z.array(z.string()).optional(),
    }),
    context: contextSchema,
  }),
  /** Each further line. */
  attempt: z.object({
    case: z.string(),
    context: z.boolean(),
    /** Of a benchmark. */
    condition: z.string().optional(),
    attempt: attemptSchema,
  }),
};

/** `.ktx/evals/<id>.json`. */
export const runSchema = z.object({
  version: z.literal(1),
  id: z.string(),
  started: z.string(),
  ms: z.number(),
  ktx: z.string(),
  interrupted: z.boolean(),
  context: contextSchema,
  cases: z.array(caseResultSchema),
  /** The same cases, asked without any context. */
  without_context: z.array(caseResultSchema).optional(),
});

export type EvalRun = z.infer<typeof runSchema>;
export type CaseResult = z.infer<typeof caseResultSchema>;
export type GradedTurn = z.infer<typeof gradedTurnSchema>;
