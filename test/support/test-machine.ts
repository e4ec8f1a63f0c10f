import { afterAll } from 'vitest';
import type { ClaudeHome } from './claude-home.ts';
import { makeMachine } from './llm-runtimes.ts';
import { type ModelEndpoint, openModelEndpoint } from './model-endpoint.ts';

/** A scripted endpoint and a machine that reaches it, until the end of the test file. */
export async function openTestMachine(): Promise<{
  readonly endpoint: ModelEndpoint;
  readonly machine: ClaudeHome;
}> {
  const endpoint = await openModelEndpoint();
  const machine = await makeMachine(endpoint);
  afterAll(async () => {
    await endpoint.close();
    await machine.remove();
  });
  return { endpoint, machine };
}
