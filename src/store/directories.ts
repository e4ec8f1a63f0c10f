import { existsSync, lstatSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../lib/error.ts';
import { undefinedIfMissing, fileAccessError } from './files.ts';

/** Where everything of a project is that only ktx reads and writes, and its configuration; absolute paths. Creates nothing. */
export function projectPaths(dir: string) {
  const state = join(dir, '.ktx');
  refuseLinks(state);
  return {
    config: join(dir, 'ktx.yaml'),
    /** Local, never in git. */
    state,
    stateDb: join(state, 'state.db'),
    journalDb: join(state, 'journal.db'),
    lockDb: join(state, 'lock.db'),
    cache: join(state, 'cache'),
    logs: join(state, 'logs'),
    chats: join(state, 'chats'),
    evals: join(state, 'evals'),
  };
}

/** ktx writes here without asking, and a repository can bring links along: neither the folder nor an entry of it may be one. */
function refuseLinks(state: string): void {
  const link = linkIn(state);
  if (link === undefined) return;
  throw new UserError(
    'state_is_link',
    `${link} is a symbolic link; ktx writes there only into a folder of its own.`,
    {
      hint: 'Remove the link: everything in .ktx can be made again.',
      exitCode: 2,
    },
  );
}

function linkIn(state: string): string | undefined {
  try {
    if (lstatSync(state).isSymbolicLink()) return state;
    const entry = readdirSync(state, { withFileTypes: true }).find((one) => one.isSymbolicLink());
    return entry && join(state, entry.name);
  } catch (error) {
    return undefinedIfMissing(error as NodeJS.ErrnoException);
  }
}

/** Makes `.ktx` with an ignore file of its own, so that nothing in it can reach git and no ignore file of a person is edited. */
export function ensureStateDirectory(dir: string): ReturnType<typeof projectPaths> {
  const paths = projectPaths(dir);
  try {
    mkdirSync(paths.state, { recursive: true });
    const ignoreFile = join(paths.state, '.gitignore');
    if (!existsSync(ignoreFile)) writeFileSync(ignoreFile, '*\n');
  } catch (error) {
    throw fileAccessError('written', paths.state, error);
  }
  return paths;
}
