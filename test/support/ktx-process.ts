import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { envelopeSchema } from '../cli/run-cli.ts';

const ownMain = new URL('../../src/cli/main.ts', import.meta.url).pathname;

interface Given {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Default: the command line of the clone. */
  readonly main?: string;
}

/** ktx as a process of its own: no terminal, nothing on stdin. */
export function startKtx(argv: readonly string[], { cwd, env, main = ownMain }: Given) {
  const child = spawn(process.execPath, [main, ...argv], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  let said = '';
  child.stderr.on('data', (bytes: Buffer) => void (said += bytes.toString()));
  return {
    pid: child.pid ?? 0,
    /** What it has printed on stderr so far. */
    said: () => said,
    interrupt: () => child.kill('SIGINT'),
    /** Ends it without a chance to clean up. */
    kill: () => child.kill('SIGKILL'),
    ended: ended.then(([stdout, stderr, [code]]) => ({
      stdout,
      stderr,
      code: code as number | null,
    })),
  };
}

/** The same with `--json`, to its end. */
export async function runKtxJson(argv: readonly string[], given: Given) {
  const { code, stdout, stderr } = await startKtx([...argv, '--json'], given).ended;
  return {
    code,
    stderr,
    envelope: envelopeSchema.parse(JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '')),
  };
}
