import type { z } from 'zod';
import type { Project } from '../project/open/open.ts';

interface LoopContext<Session> {
  readonly session: Session;
  readonly project: Project;
  readonly signal: AbortSignal;
}

/** What the model reads, with text from outside between marks; and data that stays in the process. */
type LoopAnswer = string | { readonly markdown: string; readonly structured: unknown };

/** A tool for the model loops of an ingest. `Session` collects what a loop of one stage decides. */
export interface LoopTool<Session> {
  readonly name: string;
  /** Read by the model: what the tool does, and when to use it. */
  readonly description: string;
  readonly inputSchema: z.ZodObject;
  /** False if the configuration disables the tool. */
  offered?(project: Project): boolean;
  /** Throws a UserError that says what would be accepted. */
  run(input: unknown, context: LoopContext<Session>): Promise<LoopAnswer> | LoopAnswer;
}

interface LoopToolSpec<Session, Schema extends z.ZodObject> extends Omit<
  LoopTool<Session>,
  'run' | 'inputSchema'
> {
  readonly inputSchema: Schema;
  run(input: z.infer<Schema>, context: LoopContext<Session>): Promise<LoopAnswer> | LoopAnswer;
}

/** Types the input of `run` by the schema. The runtime parses the input before it calls `run`. */
export function defineLoopTool<Session, Schema extends z.ZodObject>(
  tool: LoopToolSpec<Session, Schema>,
): LoopTool<Session> {
  return { ...tool, run: (input, context) => tool.run(input as z.infer<Schema>, context) };
}
