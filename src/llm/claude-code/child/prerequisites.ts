import { access, constants, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { LlmError } from '../../port/error.ts';

/** Checks what a child needs, because the program's own errors say nothing. */
export async function checkPrerequisites(
  program: string,
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<void> {
  if (!(await isAccessible(program, constants.X_OK))) {
    throw new LlmError('spawn', `There is no Claude Code program at ${program}.`, {
      hint: 'Install ktx again with its optional dependencies: npm install --include=optional',
    });
  }
  const isFolder = await stat(cwd).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
  if (!isFolder)
    throw new LlmError('spawn', `The project folder ${cwd} does not exist.`, {
      hint: 'Run ktx in a project folder.',
    });
  const home = env['CLAUDE_CONFIG_DIR'] ?? env['HOME'] ?? env['USERPROFILE'] ?? homedir();
  if (env['CLAUDE_CONFIG_DIR'] === undefined && !(await isAccessible(home, constants.W_OK))) {
    throw new LlmError('spawn', `Claude Code cannot write to the home folder ${home}.`, {
      hint: 'Set HOME or CLAUDE_CONFIG_DIR to a folder that exists and is writable.',
    });
  }
}

function isAccessible(path: string, mode: number): Promise<boolean> {
  return access(path, mode).then(
    () => true,
    () => false,
  );
}
