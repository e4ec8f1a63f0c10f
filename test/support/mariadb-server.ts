import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { chmod, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';
import { throwAwayCertificate } from './certificate.ts';
import { freePort, runningServers } from './postgres-server.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Of the test server: undefined where MariaDB is not installed, and its tests are skipped. */
    mariadb: { readonly port: number; readonly certificate: string } | undefined;
  }
}

const programs = { install: 'mariadb-install-db', server: 'mariadbd' };

/**
 * One real MariaDB for the whole test run, where its programs are on the PATH; on a free loopback
 * port, gone with the run.
 */
export default async function setup(
  project: TestProject,
): Promise<(() => Promise<void>) | undefined> {
  const running = runningServers();
  if (running !== undefined) return project.provide('mariadb', running.mariadb) as undefined;
  const isInstalled = Object.values(programs).every(
    (name) => spawnSync(name, ['--help']).error === undefined,
  );
  if (!isInstalled) return project.provide('mariadb', undefined) as undefined;
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'ktx-test-mariadb-'));
  await chmod(folder, 0o755);
  const data = join(folder, 'data');
  const { key, certificate } = throwAwayCertificate('localhost');
  writeFileSync(join(folder, 'key.pem'), key);
  writeFileSync(join(folder, 'certificate.pem'), certificate);
  const user = process.getuid?.() === 0 ? ['--user=root'] : [];
  const install = [
    '--no-defaults',
    `--datadir=${data}`,
    '--auth-root-authentication-method=normal',
    '--skip-test-db',
    ...user,
  ];
  // Servers that install at the same moment trip over each other's temporary tables.
  const env = { ...process.env, TMPDIR: folder };
  await promisify(execFile)(programs.install, install, { env });
  const options = [
    '--no-defaults',
    `--datadir=${data}`,
    `--socket=${join(folder, 'socket')}`,
    '--bind-address=127.0.0.1',
    `--port=${port}`,
    '--skip-name-resolve',
    '--innodb-flush-log-at-trx-commit=0',
    // Counts statements, for tests of what people ran.
    '--performance-schema=ON',
    `--ssl-key=${join(folder, 'key.pem')}`,
    `--ssl-cert=${join(folder, 'certificate.pem')}`,
    ...user,
  ];
  const server = spawn(programs.server, options, { env });
  const ended = once(server, 'exit');
  await new Promise<void>((resolve, reject) => {
    let log = '';
    server.stderr.on('data', (chunk) => {
      log += String(chunk);
      if (log.includes('ready for connections')) resolve();
    });
    ended.then(() => reject(new Error(log)), reject);
  });
  project.provide('mariadb', { port, certificate });
  return async () => {
    server.kill();
    // It waits for statements that never look for a KILL, and they take a core each.
    const impatience = setTimeout(() => server.kill('SIGKILL'), 3000);
    await ended;
    clearTimeout(impatience);
    rmSync(folder, { recursive: true, force: true });
  };
}
