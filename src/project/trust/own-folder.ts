import { statSync } from 'node:fs';
import { UserError } from '../../lib/error.ts';

/**
 * Throws if other users can write into a folder of approvals or tokens: they could approve or let
 * themselves in. A folder that does not exist is fine.
 */
export function requireOwnFolder(folder: string): void {
  const info = statSync(folder, { throwIfNoEntry: false });
  const user = process.getuid?.();
  if (info === undefined || user === undefined) return;
  if (info.uid === user && (info.mode & 0o022) === 0) return;
  throw new UserError(
    'trust_folder_unsafe',
    `Other users of this machine can write to ${folder}.`,
    {
      hint: `Make it yours alone: chmod 700 ${folder}`,
      exitCode: 4,
    },
  );
}
