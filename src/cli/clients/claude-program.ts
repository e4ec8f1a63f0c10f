import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';
import { errorMessage, UserError } from '../../lib/error.ts';
import type { ClientEntry, ClientScope } from './client-list.ts';

interface ClaudeCall {
  readonly program: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

const run = promisify(execFile);

/**
 * Claude Code on the PATH: it writes its own file at any moment, so it is asked to add servers
 * itself. Undefined if it is not there.
 */
export async function findClaude(env: ClaudeCall['env']): Promise<string | undefined> {
  // Windows has a script there, which needs a shell.
  if (process.platform === 'win32') return undefined;
  for (const folder of (env['PATH'] ?? '').split(delimiter)) {
    const program = join(folder, 'claude');
    if (isAbsolute(folder) && (await isExecutable(program))) return program;
  }
  return undefined;
}

export async function setClaudeServer(
  call: ClaudeCall,
  server: { readonly name: string; readonly scope: ClientScope; readonly entry: ClientEntry },
): Promise<void> {
  await removeClaudeServer(call, server).catch(() => undefined);
  await runClaude(call, [
    'add-json',
    '-s',
    server.scope,
    server.name,
    JSON.stringify(server.entry),
  ]);
}

export async function removeClaudeServer(
  call: ClaudeCall,
  { name, scope }: { readonly name: string; readonly scope: ClientScope },
): Promise<void> {
  await runClaude(call, ['remove', '-s', scope, name]);
}

async function runClaude({ program, ...options }: ClaudeCall, args: readonly string[]) {
  try {
    await run(program, ['mcp', ...args], { ...options, timeout: 60_000 });
  } catch (error) {
    throw new UserError('client_failed', `claude mcp ${args[0]} failed: ${errorMessage(error)}`, {
      hint: 'run it yourself to see why; ktx mcp install --dry-run shows what to add',
      cause: error,
    });
  }
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
