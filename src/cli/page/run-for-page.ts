import { Readable, Writable } from 'node:stream';
import PQueue from 'p-queue';
import { shareProject } from '../../web/shared-project.ts';
import type { Project } from '../../project/open/open.ts';
import type { RunForPage } from '../../web/page-server.ts';
import type { RunForCaller } from '../../web/team/answer-caller.ts';
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
  const queue = new PQueue({ concurrency: mostAtOnce });
  const runNow: RunForPage = async (command, options) => {
    const lease = await shared.take();
    try {
      return await runOn(lease.project, command, { ...options, env: context.host.env });
    } finally {
      await lease.release();
    }
  };
  const run: RunForPage = (command, options) => queue.add(() => runNow(command, options));
  return { run, close: () => shared.close() };
}

/** Runs command lines for callers of a server, each on the project as the caller sees it. */
export function openCallerRunner({ host }: CommandContext): RunForCaller {
  return (command, { project, signal }) => runOn(project, command, { signal, env: host.env });
}

type RunOptions = Parameters<RunForPage>[1] & Pick<CommandContext['host'], 'env'>;

/** What the command prints, with its last line as the answer. */
async function runOn(
  project: Project,
  command: readonly string[],
  { signal, onLine, env }: RunOptions,
): Promise<string> {
  const output = collectLines(onLine);
  await runCli(withJsonFlag(command), {
    stdin: Readable.from([]),
    stdout: output.stream,
    stderr: new Writable({ write: (_chunk, _encoding, done) => done() }),
    env,
    cwd: project.dir,
    signal,
    openProject: async () => project,
  });
  return output.last();
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
