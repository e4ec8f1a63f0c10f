import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

interface ChildFolder {
  /** The variables that tell a child with this environment where its temporary files go. */
  variables(env: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>>;
  remove(): Promise<void>;
}

/**
 * The temporary files of the Claude Code children of this process. The program leaves some behind
 * when it ends. `onCreate` gets the path of the folder, which is made for the first child.
 */
export function openChildFolder(onCreate: (path: string) => void): ChildFolder {
  let path: string | undefined;
  return {
    variables(env): Record<string, string> {
      if (path === undefined) {
        path = createFolder([env['CLAUDE_CODE_TMPDIR'], env['TMPDIR'], tmpdir()]);
        if (path === undefined) return {};
        onCreate(path);
      }
      return { CLAUDE_CODE_TMPDIR: path };
    },
    async remove() {
      const removed = path;
      path = undefined;
      // What cannot be removed now, the system removes with its temporary files.
      if (removed !== undefined)
        await rm(removed, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined);
    },
  };
}

/**
 * Makes the folder below the first base that exists and takes files; undefined if there is none,
 * and the program decides for itself. The children run in another folder, so a relative base is
 * resolved here.
 */
function createFolder(bases: readonly (string | undefined)[]): string | undefined {
  for (const base of bases) {
    if (!base) continue;
    try {
      return mkdtempSync(join(resolve(base), 'ktx-claude-'));
    } catch {
      // The next base may do.
    }
  }
  return undefined;
}
