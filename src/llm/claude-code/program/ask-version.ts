import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const longestAnswerMs = 5000;
/** Characters. The answer is one short line. */
const longestAnswer = 200;
const versionLine = /^(\d+\.\d+\.\d+) \(Claude Code\)$/;

/** `problem` is the end of a sentence about the program. */
export type VersionAnswer =
  | { readonly version: string; readonly problem?: undefined }
  | { readonly version?: undefined; readonly problem: string };

/**
 * Asks a program for its version, in an empty folder and with nothing of the environment. A program
 * that does not answer is killed, with everything that it started.
 */
export async function askVersion(
  program: string,
  { limitMs = longestAnswerMs }: { readonly limitMs?: number } = {},
): Promise<VersionAnswer> {
  const folder = await mkdtemp(join(tmpdir(), 'ktx-version-'));
  try {
    const answer = await firstOutput(program, folder, limitMs);
    if (answer === undefined)
      return { problem: `did not answer --version within ${limitMs / 1000} s` };
    const [, version] = versionLine.exec(answer.trim()) ?? [];
    return version === undefined ? { problem: 'is not Claude Code' } : { version };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** What the program wrote until it ended; undefined if it did not end in time. */
function firstOutput(
  program: string,
  folder: string,
  limitMs: number,
): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const child = spawn(program, ['--version'], {
    cwd: folder,
    env: { PATH: '/usr/bin:/bin', HOME: folder, TMPDIR: folder, DISABLE_AUTOUPDATER: '1' },
    stdio: ['ignore', 'pipe', 'ignore'],
    // A process group of its own, so that it can be killed whole.
    detached: true,
    windowsHide: true,
  });
  const end = (output: string | undefined): void => {
    clearTimeout(timer);
    killGroup(child.pid);
    child.stdout.destroy();
    resolve(output);
  };
  const timer = setTimeout(() => end(undefined), limitMs);
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    if (output.length > longestAnswer) end('');
  });
  child.once('error', () => end(''));
  // Something that it started may keep the pipe open.
  child.once('exit', () => killGroup(child.pid));
  child.once('close', () => end(output));
  return promise;
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}
