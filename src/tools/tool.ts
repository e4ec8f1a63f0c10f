import { z } from 'zod';
import type { LoopTools } from '../ingest/loop-tools.ts';
import type { UserError } from '../lib/error.ts';
import { noValues, type SentValues } from '../llm/egress/sent-values.ts';
import type { KtxRuntimeToolDescriptor } from '../llm/port/runtime.ts';
import type { ToolEffect } from '../llm/port/tool-call.ts';
import type { CommitState } from '../project/open/commit-state.ts';
import type { Project } from '../project/open/open.ts';
import type { VerifiedMark } from '../project/verified/find-verified.ts';

/** A tool for agents, as its file defines it. The registry lists them. */
export interface ToolDefinition<TSchema extends z.ZodObject = z.ZodObject> {
  readonly name: string;
  /** Read by the model: what the tool answers, and when to use it. */
  readonly description: string;
  readonly effect: ToolEffect;
  /** Without `max_tokens` and `cursor`, which the toolbox adds. */
  readonly inputSchema: TSchema;
  /** The key of `items` in the answer. `text` means that the items are lines. */
  readonly itemsName: 'hits' | 'rows' | 'text';
  /** True if answers are never truncated: the tool takes no `max_tokens` and no `cursor`. */
  readonly isShort?: boolean;
  /** True for a call that may take minutes: a client that can wait for it elsewhere gets a task. */
  takesLong?(input: z.infer<TSchema>): boolean;
  /** False if the configuration disables the tool. */
  offered?(project: Project): boolean;
  run(input: z.infer<TSchema>, context: ToolContext): Promise<ToolAnswer>;
}

export interface ToolContext {
  readonly project: Project;
  readonly signal: AbortSignal;
  /** True if metrics that nobody has accepted are not offered. */
  readonly isReviewedOnly: boolean;
  /** For tools that start an ingest. Loaded only then. */
  readonly loops: () => Promise<LoopTools>;
  /** True if the caller waits for the end of the work, however long it takes. */
  readonly isAwaited: boolean;
  /** Reports what a long call is doing. */
  readonly reportStep: (step: string) => void;
}

/** In the summary of an answer that has warnings of the warehouse. */
export const warehouseWarns = 'The warehouse warns about the result: see warnings.';

/**
 * What a tool found, before the toolbox truncates and marks it. Text from outside is only in
 * `details` and `items`.
 */
export interface ToolAnswer {
  /** One line, written by ktx. */
  readonly summary: string;
  readonly trust: Trust;
  readonly queryId?: string;
  /** Set if the tool ran a statement. */
  readonly ran?: {
    readonly connection: string;
    readonly sql: string;
    readonly outline?: () => Promise<object>;
  };
  /** Columns, SQL, receipt. Only on the first page. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** The long part: truncated to fit, continued with a cursor. */
  readonly items: readonly unknown[];
  /**
   * What the warehouse said about the result, which may quote values. Shown with the `warnings` of
   * `details`.
   */
  readonly warnings?: readonly string[];
  /** True if the project's limits cut off more items. */
  readonly truncated?: boolean;
  /** The values of warehouses in these of the items; `carriesNone` if there can be none. */
  readonly values: (items: readonly unknown[]) => readonly SentValues[];
  /**
   * What takes the place of `items` if the project keeps values on this machine. Default: the items
   * without values.
   */
  readonly withheld?: readonly unknown[];
}

/** For answers that have nothing but the project's files and the structure of tables. */
export const carriesNone = (): readonly SentValues[] => noValues;

export interface Trust extends CommitState {
  /**
   * `curated`: defined in reviewed files of the semantic layer. `ad_hoc`: made up for this
   * question.
   */
  readonly status: 'curated' | 'ad_hoc';
  readonly files?: readonly string[];
  /** Subjects with a conflict that nobody has resolved. */
  readonly contested?: readonly string[];
  /** Subjects that rely on something that has changed since a model read it. */
  readonly stale?: readonly string[];
  /** Metrics that only a model read, and nobody has accepted. */
  readonly unreviewed?: readonly string[];
  /** The eval case that this passed. */
  readonly verified?: VerifiedMark;
}

/**
 * The structured answer of a tool whose items are data. `untrusted` begins and ends with the same
 * random marks as the text.
 */
const answerSchema = z.looseObject({
  trust: z.looseObject({}),
  untrusted: z.looseObject({}),
  page: z.looseObject({ truncated: z.boolean(), next_cursor: z.string().optional() }),
});
type StructuredAnswer = z.infer<typeof answerSchema>;

interface ToolResult {
  readonly markdown: string;
  readonly structured?: StructuredAnswer;
  readonly error?: UserError;
  /** The values of warehouses in `markdown` and `structured`. */
  readonly values: readonly SentValues[];
  /** The whole answer, with its first page; for code that shows it to a person or stores it. */
  readonly answer?: ToolAnswer;
}

/**
 * A tool that can be called. `execute` parses, runs, truncates, marks and logs. It never throws:
 * failures are in the result.
 */
export interface Tool extends KtxRuntimeToolDescriptor<unknown, StructuredAnswer> {
  readonly effect: ToolEffect;
  /** False for answers that are only text. */
  readonly isStructured: boolean;
  /** True for a call that may take minutes. An input that does not fit the tool is none. */
  readonly takesLong: (input: unknown) => boolean;
  execute(input: unknown): Promise<ToolResult>;
}
