import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { quietSuites, slowCases, slowSuites, suites } from './test/slow-suites.ts';

/**
 * A person's settings, and temporary files, during a run: `test/support/run-folders.ts` removes
 * both.
 */
const configHome = join(tmpdir(), `ktx-test-config-${process.pid}`);
const temporaryFolder = join(tmpdir(), `ktx-test-${process.pid}`);

const slow = Object.keys(slowSuites);

/** Suites that look at what their process has loaded. */
const alone = ['test/mcp/first-answer.test.ts', 'test/semantic/plain-expressions.test.ts'];

/** Its suites exhaust the gate for model calls, which a process has once for each backend. */
const isolated = ['contract'];

/**
 * The suites of a folder share their processes, where parsers and engines are loaded already: a
 * third less work. Each folder has processes of its own: a large process is slow to start git.
 */
const folders = readdirSync(join(import.meta.dirname, 'test'), { withFileTypes: true })
  .filter(
    (entry) => entry.isDirectory() && !['fixtures', 'recorded', 'support'].includes(entry.name),
  )
  .map(({ name }) => ({
    name,
    include: [`test/${name}/**/*.test.ts`],
    exclude: [...slow, ...alone],
    isolate: isolated.includes(name),
  }));

/** The slow suites, or all; each in a process of its own. */
const whole = {
  name: suites,
  include: suites === 'slow' ? [...slow, ...Object.keys(slowCases)] : ['test/**/*.test.ts'],
  exclude: quietSuites,
};
/** One after the other, once all others have ended. */
const quiet = {
  name: 'quiet',
  include: quietSuites,
  maxWorkers: 1,
  sequence: { groupOrder: 1 },
};
const fast = [{ name: 'alone', include: ['test/*.test.ts', ...alone] }, ...folders];

export default defineConfig({
  test: {
    projects: (suites === 'fast' ? fast : [whole, quiet]).map((test) => ({ extends: true, test })),
    provide: { configHome, temporaryFolder },
    // Both only end what hangs: a machine that is five times slower than usual fails no test.
    testTimeout: suites === 'fast' ? 180_000 : 1_800_000,
    hookTimeout: suites === 'fast' ? 180_000 : 1_800_000,
    expect: { poll: { timeout: 20_000 } },
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
