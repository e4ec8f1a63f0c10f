import { rmSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ingestProject } from '../../src/project/learn/ingest.ts';
import { openProject } from '../../src/project/open/open.ts';
import { openToolbox } from '../../src/tools/toolbox.ts';
import { shopProject } from '../ingest/ingest-project.ts';
import { makeClaudeHome, type ClaudeHome } from '../support/claude-home.ts';
import { describing, tablesAsked } from '../support/describing-model.ts';
import { openRuntime } from '../support/llm-runtimes.ts';
import { openModelEndpoint, type ModelEndpoint } from '../support/model-endpoint.ts';
import { inTurn, say, use } from '../support/model-script.ts';

let endpoint: ModelEndpoint;
let machine: ClaudeHome;
const dirs: string[] = [];

beforeAll(async () => {
  endpoint = await openModelEndpoint();
  machine = await makeClaudeHome(endpoint);
});
afterAll(async () => {
  for (const dir of dirs) rmSync(dir, { recursive: true, force: true });
  await machine.remove();
  await endpoint.close();
});

function shop(): string {
  const dir = shopProject();
  dirs.push(dir);
  return dir;
}

test('a project uses an injected runtime for everything that calls a model [P7 P13 P15]', async () => {
  const tables: string[] = [];
  endpoint.fallback = (call) => {
    tables.push(...tablesAsked(call).map(({ table }) => table));
    return describing(call);
  };
  const { runtime } = await openRuntime('anthropic', endpoint, { machine });
  const project = await openProject(shop(), { runtime });
  expect(project.config.llm.provider.backend).toBe('none');
  const report = await ingestProject(project, {
    connections: [],
    signal: AbortSignal.timeout(60_000),
  });
  await project.close();
  expect(report.connections).toMatchObject([{ descriptions: { done: 3, total: 3, calls: 1 } }]);
  expect(tables.toSorted()).toEqual(['coupons', 'customers', 'orders']);
});

test.each(['anthropic', 'openai', 'claude-code'] as const)(
  'the tools of the registry are the tools of a loop on %s, as over MCP [D1 D2]',
  async (subject) => {
    const project = await openProject(shop());
    await ingestProject(project, { connections: [], signal: AbortSignal.timeout(60_000) });
    const tools = openToolbox(project).tools(AbortSignal.timeout(60_000));
    const model = endpoint.start(inTurn(use('search_context', { text: 'orders' }), say('found')));
    const { runtime } = await openRuntime(subject, endpoint, { machine, projectDir: project.dir });
    const result = await runtime.runAgentLoop({
      modelRole: 'default',
      systemPrompt: 'Look things up.',
      userPrompt: `Find the orders. ${model.marker}`,
      toolSet: Object.fromEntries(tools.map((tool) => [tool.name, tool])),
      stepBudget: 4,
    });
    await runtime.close();
    await project.close();
    expect(result).toMatchObject({ stopReason: 'natural', text: 'found', toolFailures: {} });
    expect(model.calls[0]?.tools.map((name) => name.replace(/^mcp__ktx__/, '')).toSorted()).toEqual(
      tools.map(({ name }) => name).toSorted(),
    );
    expect(model.calls[1]?.results[0]?.text).toMatch(
      /Trust: [^]*<untrusted-\w+ source="search_context[^]*orders/,
    );
  },
);
