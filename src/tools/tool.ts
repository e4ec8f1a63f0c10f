import type { z } from 'zod';
import type { KtxRuntimeToolDescriptor } from '../llm/runtime.ts';
import type { Project } from '../project/project.ts';

/** What a tool may touch; permissions and annotations follow from it. */
export type ToolEffect = 'context' | 'query' | 'write' | 'external';

export interface ToolContext {
  readonly project: Project;
  readonly signal: AbortSignal;
}

/** A tool of the one registry: a descriptor whose input is parsed with `inputSchema` before `execute` sees it. */
export interface Tool<TInput = unknown, TOutput = unknown> extends KtxRuntimeToolDescriptor<TInput, TOutput> {
  readonly effect: ToolEffect;
  readonly outputSchema: z.ZodObject<z.ZodRawShape>;
}
