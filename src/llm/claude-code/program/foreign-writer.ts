import type { Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';

const groupMayWrite = 0o020;
const othersMayWrite = 0o002;
/** In a folder with this bit, only the owner of an entry can replace it. */
const sticky = 0o1000;
const macAdminGroup = 80;

/**
 * Why somebody else on this machine could change what a path leads to: the end of a sentence about
 * the path. Looks at the file and at every folder above it. Undefined if only this user and the
 * administrator can.
 */
export async function foreignWriter(path: string): Promise<string | undefined> {
  for (let place = path; ; place = dirname(place)) {
    const problem = problemOf(await stat(place));
    if (problem !== undefined) return place === path ? problem : `is in ${place}, which ${problem}`;
    if (dirname(place) === place) return undefined;
  }
}

function problemOf(stats: Stats): string | undefined {
  const { uid, mode } = stats;
  if (uid !== 0 && uid !== process.getuid?.()) return 'belongs to another user';
  if (stats.isDirectory() && (mode & sticky) !== 0) return undefined;
  if ((mode & othersMayWrite) !== 0) return 'everybody may write to';
  return (mode & groupMayWrite) !== 0 && !isOwnGroup(stats) ? 'a group may write to' : undefined;
}

/**
 * Administrators may change everything anyway: on macOS, their group may write to the folders of
 * Homebrew. On Linux, a user's own group has the number of the user, and usually no other member.
 */
function isOwnGroup({ gid }: Stats): boolean {
  if (gid === 0) return true;
  if (process.platform === 'darwin') return gid === macAdminGroup;
  return gid === process.getuid?.() && gid === process.getgid?.();
}
