import { text } from 'node:stream/consumers';
import { UserError } from '../../lib/error.ts';
import { readText } from '../../store/files.ts';
import type { CommandContext } from '../command.ts';
import { usageError } from '../terminal/failure.ts';

/** Reads a file, or standard input for `-`. */
export async function readInput(path: string, context: CommandContext): Promise<string> {
  if (path === '-') return readStandardInput(context);
  const content = await readText(path);
  if (content !== undefined) return content;
  throw new UserError('file_not_found', `File not found: ${path}.`, {
    hint: 'check the path, or use - for standard input',
    exitCode: 2,
  });
}

export async function readStandardInput({ host }: CommandContext): Promise<string> {
  if (host.stdin.isTTY === true)
    throw usageError('Standard input is a terminal.', 'pipe text into the command');
  return text(host.stdin);
}
