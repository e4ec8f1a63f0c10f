import type { z } from 'zod';

/** A tool as every surface sees it: MCP, agent loops and chat adapt from this one shape. */
export interface KtxRuntimeToolDescriptor<TInput = unknown, TOutput = unknown> {
  readonly name: string;
  /** Product copy for a model: what it answers, when to use it. */
  readonly description: string;
  readonly inputSchema: z.ZodObject<z.ZodRawShape>;
  execute(input: TInput): Promise<{ markdown: string; structured?: TOutput }>;
}
