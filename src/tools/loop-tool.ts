import type { z } from 'zod';
import { noValues, type SentValues } from '../llm/egress/sent-values.ts';
import type { Project } from '../project/open/open.ts';

interface LoopContext<Session> {
  readonly session: Session;
  readonly project: Project;
  readonly signal: AbortSignal;
}

/**
 * What the model reads, with text from outside between marks; the values of warehouses in it; and
 * data that stays in the process.
 */
interface LoopAnswer {
  readonly markdown: string;
  readonly values: readonly SentValues[];
  readonly structured?: unknown;
}
type TextAnswer = string | Omit<LoopAnswer, 'values'>;

/** A tool for the model loops of an ingest. `Session` collects what a loop of one stage decides. */
export interface LoopTool<Session> {
  readonly name: string;
  /** Read by the model: what the tool does, and when to use it. */
  readonly description: string;
  readonly inputSchema: z.ZodObject;
  /** False if the configuration disables the tool. */
  offered?(project: Project): boolean;
  /** Throws a UserError that says what would be accepted. */
  run(input: unknown, context: LoopContext<Session>): Promise<LoopAnswer>;
}

interface LoopToolSpec<Session, Schema extends z.ZodObject> extends Omit<
  LoopTool<Session>,
  'run' | 'inputSchema'
> {
  readonly inputSchema: Schema;
}

/**
 * Whether answers can have values of a warehouse. Every tool says so; one that can lists them for
 * the ledger.
 */
type LoopToolAnswers<Session, Schema extends z.ZodObject> =
  | {
      readonly carries: 'nothing';
      run(input: z.infer<Schema>, context: LoopContext<Session>): Promise<TextAnswer> | TextAnswer;
    }
  | {
      readonly carries: 'values';
      run(input: z.infer<Schema>, context: LoopContext<Session>): Promise<LoopAnswer> | LoopAnswer;
    };

/** Types the input of `run` by the schema. The runtime parses the input before it calls `run`. */
export function defineLoopTool<Session, Schema extends z.ZodObject>(
  tool: LoopToolSpec<Session, Schema> & LoopToolAnswers<Session, Schema>,
): LoopTool<Session> {
  const { name, description, inputSchema, offered } = tool;
  return {
    name,
    description,
    inputSchema,
    ...(offered && { offered }),
    async run(rawInput, context) {
      const input = rawInput as z.infer<Schema>;
      if (tool.carries === 'values') return tool.run(input, context);
      const answer = await tool.run(input, context);
      return typeof answer === 'string'
        ? { markdown: answer, values: noValues }
        : { ...answer, values: noValues };
    },
  };
}
