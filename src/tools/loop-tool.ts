import type { z } from 'zod';
import type { Project } from '../project/open/open.ts';

interface LoopContext<Session> {
  readonly session: Session;
  readonly project: Project;
  readonly signal: AbortSignal;
}

/** What the model sees (text from outside stands between marks), and what stays in the process. */
type LoopAnswer = string | { readonly markdown: string; readonly structured: unknown };

/** A tool of an ingest's loops as its file declares it: one entry of the registry. `Session` is the session of its stage. */
export interface LoopTool<Session> {
  readonly name: string;
  /** Product copy for a model: what it answers, when to use it. */
  readonly description: string;
  readonly inputSchema: z.ZodObject;
  /** False where the configuration takes the tool away. */
  offered?(project: Project): boolean;
  /** A refusal is thrown as a UserError that says what would do. */
  run(input: unknown, context: LoopContext<Session>): Promise<LoopAnswer> | LoopAnswer;
}

interface Declared<Session, Schema extends z.ZodObject> extends Omit<
  LoopTool<Session>,
  'run' | 'inputSchema'
> {
  readonly inputSchema: Schema;
  run(input: z.infer<Schema>, context: LoopContext<Session>): Promise<LoopAnswer> | LoopAnswer;
}

/** A tool whose input is as its schema has it: the runtime has parsed it. */
export function loopTool<Session, Schema extends z.ZodObject>(
  tool: Declared<Session, Schema>,
): LoopTool<Session> {
  return { ...tool, run: (input, context) => tool.run(input as z.infer<Schema>, context) };
}
