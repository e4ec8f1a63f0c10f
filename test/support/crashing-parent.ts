// A process that makes a call of the Claude Code backend and waits in it until somebody ends the
// process.
import { openClaudeCodeBackend } from '../../src/llm/claude-code/backend.ts';

const [projectDir = '', executable = '', prompt = ''] = process.argv.slice(2);
const nothing = (): void => undefined;
const backend = openClaudeCodeBackend({ projectDir, env: process.env, executable });
const monitor = {
  signal: new AbortController().signal,
  heartbeat: nothing,
  stepFinished: nothing,
  requestSent: nothing,
  answerBegan: nothing,
  addUsage: nothing,
  toolFailed: nothing,
  retry: (failure: unknown) => Promise.reject(failure),
  limitReported: nothing,
  warn: nothing,
};
await backend.text({
  role: 'triage',
  model: 'sonnet',
  prompt,
  system: 'S',
  tools: {},
  temperature: undefined,
  tags: {},
  monitor,
  stepBudget: 1,
});
