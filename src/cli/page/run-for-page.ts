import { Readable, Writable } from 'node:stream';
import { shareProject } from '../../web/shared-project.ts';
import type { RunForPage } from '../../web/page-server.ts';
import type { CommandContext } from '../command.ts';
import { runCli } from '../run.ts';

/** Commands that read may run beside each other. */
const mostAtOnce = 4;

/**
 * Runs command lines for a page, in this process and on one open project. What they may do, and
 * what they print, is what `ktx … --json` may do and prints. The caller closes it.
 */
export function openPageRunner(context: CommandContext, dir: string) {
  const shared = shareProject(dir, () => context.reopenProject());
  const enter = openTurnstile(mostAtOnce);
  const run: RunForPage = async (command, { signal, onLine }) => {
    using turns = new DisposableStack();
    turns.use(await enter());
    const lease = await shared.take();
    try {
      const output = collectLines(onLine);
      const host = {
        stdin: Readable.from([]),
        stdout: output.stream,
        stderr: new Writable({ write: (_chunk, _encoding, done) => done() }),
        env: context.host.env,
        cwd: dir,
        signal,
        openProject: async () => lease.project,
      };
      await runCli(withJsonFlag(command), host);
      return output.last();
    } finally {
      await lease.release();
    }
  };
  return { run, close: () => shared.close() };
}

/** The flag for output stands before `--`, behind which every word is an argument. */
function withJsonFlag(command: readonly string[]): readonly string[] {
  const at = command.indexOf('--');
  return at === -1
    ? [...command, '--json']
    : [...command.slice(0, at), '--json', ...command.slice(at)];
}

/** The lines that a command prints: all but the last go to the listener. */
function collectLines(onLine: ((line: string) => void) | undefined) {
  let rest = '';
  let last = '';
  const stream = new Writable({
    decodeStrings: false,
    write(chunk: string | Buffer, _encoding, done) {
      const lines = (rest + chunk.toString()).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (last !== '') onLine?.(last);
        last = line;
      }
      done();
    },
  });
  return { stream, last: () => last };
}

/** Lets so many in at a time, in the order in which they came. */
function openTurnstile(most: number) {
  let inside = 0;
  const waiting: (() => void)[] = [];
  const leave = (): void => {
    inside -= 1;
    waiting.shift()?.();
  };
  return async (): Promise<Disposable> => {
    if (inside >= most) await new Promise<void>((resolve) => void waiting.push(resolve));
    inside += 1;
    return { [Symbol.dispose]: leave };
  };
}
