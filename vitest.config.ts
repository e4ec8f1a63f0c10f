import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
    // Cases against a model mostly wait.
    maxConcurrency: 10,
    // The processes that tests start need half the time where their code is compiled already.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules/.cache/compiled') },
    globalSetup: ['test/support/postgres-server.ts', 'test/support/mariadb-server.ts'],
  },
});
