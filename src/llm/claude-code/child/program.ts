import { access, constants, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { LlmError } from '../../port/error.ts';

/** Path of the Claude Code program that ships with the Agent SDK; undefined if there is none for this platform. */
export function bundledProgram(): string | undefined {
  const resolver = createRequire(
    createRequire(import.meta.url).resolve('@anthropic-ai/claude-agent-sdk'),
  );
  const file = process.platform === 'win32' ? 'claude.exe' : 'claude';
  const packageName = `@anthropic-ai/claude-agent-sdk-${process.platform}-${process.arch}`;
  const packages = [packageName, `${packageName}-musl`];
  for (const name of usesMusl() ? packages.toReversed() : packages) {
    try {
      return resolver.resolve(`${name}/${file}`);
    } catch {
      // Not installed for this platform.
    }
  }
  return undefined;
}

function usesMusl(): boolean {
  if (process.platform !== 'linux') return false;
  const report = process.report.getReport() as { header?: { glibcVersionRuntime?: string } };
  return report.header?.glibcVersionRuntime === undefined;
}

/** Checks what a child needs, because the program's own errors say nothing. Returns the program's path. */
export async function checkPrerequisites(
  program: string | undefined,
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<string> {
  if (program === undefined || !(await isAccessible(program, constants.X_OK))) {
    const where =
      program === undefined ? `for ${process.platform}-${process.arch}` : `at ${program}`;
    throw new LlmError('spawn', `There is no Claude Code program ${where}.`, {
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
  return program;
}

function isAccessible(path: string, mode: number): Promise<boolean> {
  return access(path, mode).then(
    () => true,
    () => false,
  );
}
