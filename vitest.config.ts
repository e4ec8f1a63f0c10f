import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

/** Folder of another release of the Agent SDK, for `npm run test:sdk-matrix`. */
const agentSdk = process.env['KTX_TEST_AGENT_SDK'];

export default defineConfig({
  resolve: { alias: agentSdk === undefined ? {} : { '@anthropic-ai/claude-agent-sdk': join(agentSdk, 'sdk.mjs') } },
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
    // Cases against a model mostly wait.
    maxConcurrency: 10,
    globalSetup: ['test/support/postgres-server.ts'],
  },
});
