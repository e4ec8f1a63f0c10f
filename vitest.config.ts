import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
    // Cases against a model mostly wait.
    maxConcurrency: 10,
    globalSetup: ['test/support/postgres-server.ts', 'test/support/mariadb-server.ts'],
  },
});
