import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { slowSuites } from './test/slow-suites.ts';

/**
 * A person's settings, and temporary files, during a run: `test/support/run-folders.ts` removes
 * both.
 */
const configHome = join(tmpdir(), `ktx-test-config-${process.pid}`);
const temporaryFolder = join(tmpdir(), `ktx-test-${process.pid}`);

/** `fast` (the default), `slow` or `all`. */
const suites = process.env['KTX_SUITES'] ?? 'fast';
const slow = Object.keys(slowSuites);

export default defineConfig({
  test: {
    include: suites === 'slow' ? slow : ['test/**/*.test.ts'],
    exclude: suites === 'fast' ? slow : [],
    provide: { configHome, temporaryFolder },
    testTimeout: 30_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
    // Cases against a model mostly wait.
    maxConcurrency: 10,
    // The processes that tests start need half the time where their code is compiled already.
    env: {
      NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules/.cache/compiled'),
      // What ktx remembers outside of a project; never that of the developer.
      XDG_STATE_HOME: join(import.meta.dirname, 'node_modules/.cache/user-state'),
      // What a test approves must not stay on the machine of whoever runs it.
      XDG_CONFIG_HOME: configHome,
      TMPDIR: temporaryFolder,
    },
    globalSetup: [
      'test/support/run-folders.ts',
      'test/support/postgres-server.ts',
      'test/support/mariadb-server.ts',
    ],
  },
});
