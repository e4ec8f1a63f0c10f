// Checked by the compiler only: whoever forgets the ledger does not compile. A line that compiles
// after all is an error.
import type { z } from 'zod';
import type { DeclaringRuntime } from '../../src/llm/port/runtime.ts';
import { defineLoopTool } from '../../src/tools/loop-tool.ts';
import type { ToolAnswer } from '../../src/tools/tool.ts';

export function forgetTheLedger(runtime: DeclaringRuntime, schema: z.ZodObject): unknown[] {
  const call = { role: 'default', prompt: 'Rows: …' } as const;
  const loop = { modelRole: 'default', systemPrompt: '', userPrompt: '', stepBudget: 1 } as const;
  const tool = { name: 'rows', description: 'Rows.', inputSchema: schema };
  return [
    // @ts-expect-error -- a prompt that does not say which values it has
    runtime.generateText({ ...call, stage: 'chat' }),
    // @ts-expect-error -- a prompt that does not say what it is for
    runtime.generateObject({ ...call, schema, values: [] }),
    // @ts-expect-error -- a loop that does not say which values its prompt has
    runtime.runAgentLoop({ ...loop, toolSet: {} }),
    // @ts-expect-error -- a tool that does not say whether it has values
    defineLoopTool({ ...tool, run: () => 'rows' }),
    // @ts-expect-error -- a tool that has values and does not list them
    defineLoopTool({ ...tool, carries: 'values', run: () => ({ markdown: 'rows' }) }),
    // @ts-expect-error -- an answer to an agent that does not list its values
    { summary: '', trust: { status: 'ad_hoc' }, items: [] } satisfies ToolAnswer,
  ];
}
