import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { splitSqlParts } from '../../../src/sql/sql-parts.ts';
import { isInstalled } from './engine.ts';
import type { ScriptMessage, ServerMessage, ServerOptions } from './server-process.ts';

/** Only `npm run test:clickhouse` runs them: the engine is half a gigabyte. */
export const hasClickhouse = process.env['KTX_CLICKHOUSE'] === '1' && isInstalled();

export interface ClickhouseServer {
  readonly port: number;
  readonly process: ChildProcess;
  /** Runs a script as a login that may do everything; the lines of its last statement. */
  run(script: string): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** The real engine behind HTTP on a free port of loopback, in a process of its own. */
export async function startClickhouse(
  given: Partial<ServerOptions> = {},
): Promise<ClickhouseServer> {
  const folder = await mkdtemp(join(tmpdir(), 'ktx-test-clickhouse-'));
  const options: ServerOptions = {
    folder: join(folder, 'data'),
    logins: [{ user: 'default', password: '' }],
    ...given,
  };
  const child = fork(
    fileURLToPath(new URL('server-process.ts', import.meta.url)),
    [JSON.stringify(options)],
    { stdio: ['ignore', 'ignore', 'inherit', 'ipc'], execArgv: [] },
  );
  const [first] = (await once(child, 'message')) as [ServerMessage];
  if (!('port' in first)) throw new Error('the server did not tell its port');
  child.setMaxListeners(0);
  let scripts = 0;
  return {
    port: first.port,
    process: child,
    async run(script) {
      scripts += 1;
      const id = scripts;
      const done = new Promise<readonly string[]>((resolve, reject) => {
        child.on('message', function listen(message: ServerMessage) {
          if (!('id' in message) || message.id !== id) return;
          child.off('message', listen);
          if (message.error === undefined) resolve(message.lines);
          else reject(new Error(message.error));
        });
        child.once('exit', () => reject(new Error('the server is gone')));
      });
      child.send({ id, statements: splitStatements(script) } satisfies ScriptMessage);
      return done;
    },
    async close() {
      const isGone = child.exitCode !== null || child.signalCode !== null;
      if (!isGone) {
        child.kill('SIGKILL');
        await once(child, 'exit');
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The statements of a script; a `;` in quotes or a comment ends none. */
function splitStatements(script: string): string[] {
  const statements = [''];
  for (const { kind, text } of splitSqlParts(script)) {
    const pieces = kind === 'code' ? text.split(';') : [text];
    statements[statements.length - 1] += pieces[0] ?? '';
    statements.push(...pieces.slice(1));
  }
  return statements.map((sql) => sql.trim()).filter(Boolean);
}
