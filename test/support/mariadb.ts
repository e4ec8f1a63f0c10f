import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const isRoot = process.getuid?.() === 0;

const programs = { install: 'mariadb-install-db', server: 'mariadbd', client: 'mariadb' };

/** True where all of them are on the PATH. */
export const hasMariadb = Object.values(programs).every((name) => spawnSync(name, ['--help']).error === undefined);

export interface Mariadb {
  /** The rows of the last statement; every cell is text, or null. */
  rows(sql: string): Promise<readonly (readonly (string | null)[])[]>;
  close(): Promise<void>;
}

/** A server of its own on a socket in a temporary folder, with a database in it. */
export async function startMariadb(): Promise<Mariadb> {
  const folder = await mkdtemp(join(tmpdir(), 'ktx-test-mariadb-'));
  await chmod(folder, 0o755);
  const [data, socket] = [join(folder, 'data'), join(folder, 'socket')];
  const user = isRoot ? ['--user=root'] : [];
  await run(programs.install, ['--no-defaults', `--datadir=${data}`, '--auth-root-authentication-method=normal', ...user]);
  const server = spawn(programs.server, [
    '--no-defaults', `--datadir=${data}`, `--socket=${socket}`, '--skip-networking', '--default-time-zone=+00:00', ...user,
  ]); // prettier-ignore
  const ended = once(server, 'exit');
  await new Promise<void>((resolve, reject) => {
    let log = '';
    server.stderr.on('data', (chunk) => {
      log += String(chunk);
      if (log.includes('ready for connections')) resolve();
    });
    ended.then(() => reject(new Error(log)), reject);
  });
  const client = async (sql: string, ...flags: string[]) => {
    const connect = ['--no-defaults', `--socket=${socket}`, '--user=root', '--default-character-set=utf8mb4', ...flags];
    return (await run(programs.client, [...connect, '--execute', sql])).stdout;
  };
  await client('CREATE DATABASE ktx CHARACTER SET utf8mb4');
  return {
    async rows(sql) {
      const xml = await client(sql, '--database=ktx', '--xml');
      return [...xml.matchAll(/<row>([^]*?)<\/row>/g)].map(([, row = '']) =>
        [...row.matchAll(/<field name="[^"]*"(?: xsi:nil="true" \/>|>([^]*?)<\/field>)/g)].map(([, cell]) =>
          cell === undefined ? null : unescaped(cell),
        ),
      );
    },
    async close() {
      server.kill();
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function unescaped(xml: string): string {
  return xml.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&');
}
