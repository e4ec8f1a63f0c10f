import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { slowCases, slowSuites, suites } from './test/slow-suites.ts';

/**
 * A person's settings, and temporary files, during a run: `test/support/run-folders.ts` removes
 * both.
 */
const configHome = join(tmpdir(), `ktx-test-config-${process.pid}`);
const temporaryFolder = join(tmpdir(), `ktx-test-${process.pid}`);

const slow = Object.keys(slowSuites);

/**
 * Suites that call the source and change nothing of their process: they share one, where parsers and
 * engines are loaded already. The one that is left out checks what needs no parser.
 */
const shared = [
  'test/conformance/**/*.test.ts',
  'test/semantic/!(plain-expressions).test.ts',
  'test/sources/*.test.ts',
];

const ownProcess = {
  name: 'own process',
  include: suites === 'slow' ? [...slow, ...Object.keys(slowCases)] : ['test/**/*.test.ts'],
  exclude: suites === 'fast' ? [...slow, ...shared] : [],
};
const sharedProcess = { name: 'shared process', include: shared, exclude: slow, isolate: false };

export default defineConfig({
  test: {
    projects: (suites === 'fast' ? [ownProcess, sharedProcess] : [ownProcess]).map((test) => ({
      extends: true,
      test,
    })),
    provide: { configHome, temporaryFolder },
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Two cores, and a third worker while others wait for processes and clocks.
    maxWorkers: 3,
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
