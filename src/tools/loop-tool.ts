import type { z } from 'zod';
import type { Project } from '../project/open/open.ts';

interface LoopContext<Desk> {
  readonly desk: Desk;
  readonly project: Project;
  readonly signal: AbortSignal;
}

/** What the model sees (text from outside stands between marks), and what stays in the process. */
type LoopAnswer = string | { readonly markdown: string; readonly structured: unknown };

/** A tool of an ingest's loops as its file declares it: one entry of the registry. `Desk` is the desk of its stage. */
export interface LoopTool<Desk> {
  readonly name: string;
  /** Product copy for a model: what it answers, when to use it. */
  readonly description: string;
  readonly inputSchema: z.ZodObject;
  /** False where the configuration takes the tool away. */
  offered?(project: Project): boolean;
  /** A refusal is thrown as a UserError that says what would do. */
  run(input: unknown, context: LoopContext<Desk>): Promise<LoopAnswer> | LoopAnswer;
}

interface Declared<Desk, Schema extends z.ZodObject> extends Omit<
  LoopTool<Desk>,
  'run' | 'inputSchema'
> {
  readonly inputSchema: Schema;
  run(input: z.infer<Schema>, context: LoopContext<Desk>): Promise<LoopAnswer> | LoopAnswer;
}

/** A tool whose input is as its schema has it: the runtime has parsed it. */
export function loopTool<Desk, Schema extends z.ZodObject>(
  tool: Declared<Desk, Schema>,
): LoopTool<Desk> {
  return { ...tool, run: (input, context) => tool.run(input as z.infer<Schema>, context) };
}
