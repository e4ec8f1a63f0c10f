import { z } from 'zod';
import type { UserError } from '../lib/error.ts';
import type { LoopTools } from '../ingest/loop-tools.ts';
import type { KtxRuntimeToolDescriptor } from '../llm/port/runtime.ts';
import type { ToolEffect } from '../llm/port/tool-call.ts';
import type { CommitState } from '../project/open/commit-state.ts';
import type { Project } from '../project/open/open.ts';

/** A tool as its file declares it: one entry of the registry. */
export interface ToolDefinition<TSchema extends z.ZodObject = z.ZodObject> {
  readonly name: string;
  /** Product copy for a model: what it answers, when to use it. */
  readonly description: string;
  readonly effect: ToolEffect;
  /** Without `max_tokens` and `cursor`, which every tool has. */
  readonly inputSchema: TSchema;
  /** What `items` is called in the answer; as text, they are lines. */
  readonly itemsName: 'hits' | 'rows' | 'text';
  /** Its answers are never cut, so it takes no `max_tokens` and no `cursor`. */
  readonly isShort?: boolean;
  /** False where the configuration takes the tool away. */
  offered?(project: Project): boolean;
  run(input: z.infer<TSchema>, context: ToolContext): Promise<Answer>;
}

interface ToolContext {
  readonly project: Project;
  readonly signal: AbortSignal;
  /** For what starts an ingest. */
  readonly loops: LoopTools;
  /** Tells whoever waits what is being done. */
  readonly say: (step: string) => void;
}

/** What a tool found, before it is cut to size and marked. Whatever came from outside is in `beside` or `items`. */
export interface Answer {
  /** One line in ktx's own words. */
  readonly summary: string;
  readonly trust: Trust;
  readonly queryId?: string;
  /** Where a statement was run. */
  readonly ran?: {
    readonly connection: string;
    readonly sql: string;
    readonly outline?: () => Promise<object>;
  };
  /** Columns, SQL, receipt; on the first page only. */
  readonly beside?: Readonly<Record<string, unknown>>;
  /** What is long: cut to fit, continued by cursor. */
  readonly items: readonly unknown[];
  /** The project's limits let no more items through. */
  readonly truncated?: boolean;
}

export interface Trust extends CommitState {
  /** Curated: defined in reviewed files of the semantic layer. Ad hoc: made up for this question. */
  readonly status: 'curated' | 'ad_hoc';
  readonly files?: readonly string[];
  /** Subjects that sources define differently, and nobody has decided. */
  readonly contested?: readonly string[];
  /** Subjects that lean on what has changed since a model read it. */
  readonly stale?: readonly string[];
}

/** The structured answer of every tool; `untrusted` begins and ends with the same random marks as the text. */
export const answerSchema = z.looseObject({
  trust: z.looseObject({}),
  untrusted: z.looseObject({}),
  page: z.looseObject({ truncated: z.boolean(), next_cursor: z.string().optional() }),
});
type StructuredAnswer = z.infer<typeof answerSchema>;

interface ToolResult {
  readonly markdown: string;
  readonly structured?: StructuredAnswer;
  readonly error?: UserError;
  /** Uncut, with its first page; for those who show it to a person or keep it. */
  readonly answer?: Answer;
}

/** A tool as surfaces see it: `execute` parses, runs, cuts, marks and records; it fails in its result, never by throwing. */
export interface Tool extends KtxRuntimeToolDescriptor<unknown, StructuredAnswer> {
  readonly effect: ToolEffect;
  execute(input: unknown): Promise<ToolResult>;
}
