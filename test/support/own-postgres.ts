import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { chmod, mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort, loadEmbeddedPostgres } from './postgres-server.ts';

/** A Postgres of a test that is killed and started again. */
export interface OwnPostgres {
  readonly url: string;
  /** Ends it as a power cut would, with all that it was doing, and starts it again. */
  killAndRestart(): Promise<void>;
  close(): Promise<void>;
}

export async function openOwnPostgres(): Promise<OwnPostgres> {
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'ktx-test-own-postgres-'));
  // Root cannot run Postgres: it runs as a user of its own, who must get to its folder.
  await chmod(tmpdir(), 0o711);
  await chmod(folder, 0o755);
  const databaseDir = join(folder, 'data');
  const EmbeddedPostgres = await loadEmbeddedPostgres();
  const open = () =>
    new EmbeddedPostgres({
      databaseDir,
      createPostgresUser: process.getuid?.() === 0,
      authMethod: 'scram-sha-256',
      port,
      user: 'postgres',
      password: 'test-password',
      persistent: true,
      initdbFlags: ['--encoding=UTF8', '--locale=C', '--no-sync'],
      postgresFlags: ['listen_addresses=127.0.0.1', 'unix_socket_directories='].flatMap((flag) => [
        '-c',
        flag,
      ]),
      onLog: () => undefined,
      onError: () => undefined,
    });
  let server = open();
  await server.initialise();
  await server.start();
  return {
    url: `postgresql://postgres:test-password@127.0.0.1:${port}/postgres`,
    async killAndRestart() {
      const [pid = ''] = (await readFile(join(databaseDir, 'postmaster.pid'), 'utf8')).split('\n');
      await killTree(Number(pid));
      for (let tries = 1; ; tries += 1) {
        await sleep(300);
        server = open();
        try {
          return await server.start();
        } catch (error) {
          if (tries > 30) throw error;
        }
      }
    },
    async close() {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The processes of a server: its children would otherwise keep its memory. */
async function killTree(pid: number): Promise<void> {
  const run = promisify(execFile);
  const { stdout } = await run('ps', ['-o', 'pid=', '--ppid', String(pid)]);
  for (const each of [pid, ...stdout.split('\n').map(Number)])
    if (each > 0) {
      try {
        process.kill(each, 'SIGKILL');
      } catch {
        // It has ended meanwhile.
      }
    }
}
