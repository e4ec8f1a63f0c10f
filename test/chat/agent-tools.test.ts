import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadAgent } from '../../src/project/agents/agent.ts';
import { agentTools } from '../../src/chat/tools/agent-tools.ts';
import { openPermissions } from '../../src/chat/tools/permissions.ts';
import type { ToolCall } from '../../src/llm/port/tool-call.ts';
import { openProject } from '../../src/project/open/open.ts';
import { folder, shopDatabase } from '../cli/run-cli.ts';

test('simultaneous queries share the limit of one message, however long the person takes', async () => {
  const cwd = folder();
  shopDatabase(join(cwd, 'shop.db'));
  writeFileSync(join(cwd, 'ktx.yaml'), 'connections:\n  shop: {driver: sqlite, path: shop.db}\n');
  const project = await openProject(cwd);
  try {
    const answered = Promise.withResolvers<'once'>();
    const permissions = openPermissions({ mode: 'manual', ask: () => answered.promise });
    const whole = await loadAgent(cwd);
    const agent = { ...whole, limits: { ...whole.limits, max_queries: 2 } };
    const { set } = agentTools({ project, agent, permissions, external: [], firstEvidence: 0 });
    const call = (id: string): ToolCall => ({ id, ask: (_, answer) => answer() });
    const running = ['a', 'b', 'c', 'd'].map(async (id) =>
      set['run_sql']?.execute({ sql: 'SELECT 1 AS n' }, call(id)),
    );
    answered.resolve('once');
    const spent = expect.objectContaining({
      isError: true,
      markdown: expect.stringContaining('No more queries') as unknown,
    }) as unknown;
    const results = await Promise.all(running);
    expect(results.filter((result) => !(result as { isError?: boolean }).isError)).toHaveLength(2);
    expect(results.filter((result) => (result as { isError?: boolean }).isError)).toEqual([
      spent,
      spent,
    ]);
  } finally {
    await project.close();
  }
});
