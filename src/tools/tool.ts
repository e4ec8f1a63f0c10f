import { z } from 'zod';
import type { KtxRuntimeToolDescriptor } from '../llm/runtime.ts';
import type { Project } from '../project/project.ts';

/** What a tool may touch; permissions and annotations follow from it. */
export type ToolEffect = 'context' | 'query' | 'write' | 'external';

export interface ToolContext {
  readonly project: Project;
  readonly signal: AbortSignal;
}

/** A tool as its file declares it: one entry of the registry. */
export interface ToolDefinition<TSchema extends z.ZodObject<z.ZodRawShape> = z.ZodObject<z.ZodRawShape>> {
  readonly name: string;
  /** Product copy for a model: what it answers, when to use it. */
  readonly description: string;
  readonly effect: ToolEffect;
  /** Without `max_tokens` and `cursor`, which every tool has. */
  readonly inputSchema: TSchema;
  /** What `items` is called in the structured answer. */
  readonly itemsName: 'hits' | 'lines' | 'rows';
  /** False where the configuration takes the tool away. */
  offered?(project: Project): boolean;
  run(input: z.infer<TSchema>, context: ToolContext): Promise<Answer>;
}

/** What a tool found, before it is cut to size and marked. Whatever came from outside is in `beside` or `items`. */
export interface Answer {
  /** One line in ktx's own words. */
  readonly summary: string;
  readonly trust: Trust;
  /** Of ktx's own making: ids, counts. */
  readonly facts?: Readonly<Record<string, string | number>>;
  /** Columns, SQL, receipt. An entry that is too large for the answer is left out and named in `page.omitted`. */
  readonly beside?: Readonly<Record<string, unknown>>;
  /** What is long: cut to fit, continued by cursor. Lines are text, rows and hits JSON. */
  readonly items: readonly unknown[];
  /** Why the source has more than `items`, where it has. */
  readonly incomplete?: string | undefined;
}

export type Trust = {
  /** Curated: defined in reviewed files of the semantic layer. Ad hoc: made up for this question. */
  readonly status: 'curated' | 'ad_hoc';
  readonly files?: readonly string[];
  readonly commit?: string | undefined;
  /** Those of the files that differ from the commit. */
  readonly uncommitted?: readonly string[] | undefined;
};

export interface ToolFailure {
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly retryable: boolean;
}

/** The structured answer of every tool; `untrusted` begins and ends with the same random marks as the text. */
export const answerSchema = z.looseObject({
  trust: z.looseObject({ status: z.enum(['curated', 'ad_hoc']) }),
  untrusted: z.looseObject({ begin: z.string(), end: z.string() }),
  page: z.looseObject({ truncated: z.boolean(), next_cursor: z.string().optional() }),
});
export type StructuredAnswer = z.infer<typeof answerSchema>;

/** A tool as surfaces see it: `execute` parses, runs, cuts, marks and records; it fails in its result, never by throwing. */
export interface Tool extends KtxRuntimeToolDescriptor<unknown, StructuredAnswer> {
  readonly effect: ToolEffect;
  readonly outputSchema: typeof answerSchema;
  execute(input: unknown): Promise<{ markdown: string; structured?: StructuredAnswer; error?: ToolFailure }>;
}
