import type { z } from 'zod';

/** A tool of an ingest's loops as its file declares it: one entry of the registry. `Desk` is the desk of its stage. */
export interface LoopTool<Desk> {
  readonly name: string;
  /** Product copy for a model: what it answers, when to use it. */
  readonly description: string;
  readonly inputSchema: z.ZodObject;
  /** What the model sees: text from outside stands between marks. A refusal is thrown as a UserError that says what would do. */
  run(input: unknown, context: { readonly desk: Desk; readonly signal: AbortSignal }): Promise<string> | string;
}

/** The same, with the input as its schema has it. */
export function loopTool<Desk, Schema extends z.ZodObject>(
  tool: Omit<LoopTool<Desk>, 'run' | 'inputSchema'> & {
    readonly inputSchema: Schema;
    run(input: z.infer<Schema>, context: { readonly desk: Desk; readonly signal: AbortSignal }): Promise<string> | string;
  },
): LoopTool<Desk> {
  return { ...tool, run: (input, context) => tool.run(tool.inputSchema.parse(input), context) };
}
