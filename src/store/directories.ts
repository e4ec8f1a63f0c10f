import { existsSync, lstatSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../lib/error.ts';
import { undefinedIfMissing, fileAccessError } from './files.ts';

/** Absolute paths of the configuration and of the files that only ktx reads and writes. Creates nothing. */
export function projectPaths(dir: string) {
  const state = join(dir, '.ktx');
  refuseLinks(state);
  return {
    config: join(dir, 'ktx.yaml'),
    /** The local folder `.ktx`, never in git. */
    state,
    stateDb: join(state, 'state.db'),
    journalDb: join(state, 'journal.db'),
    egressDb: join(state, 'egress.db'),
    lockDb: join(state, 'lock.db'),
    cache: join(state, 'cache'),
    logs: join(state, 'logs'),
    chats: join(state, 'chats'),
    evals: join(state, 'evals'),
  };
}

/** ktx writes here without asking, and a cloned repository can contain links: neither the folder nor its entries may be links. */
function refuseLinks(state: string): void {
  const link = findLink(state);
  if (link === undefined) return;
  throw new UserError(
    'state_is_link',
    `${link} is a symbolic link; ktx does not write through links in .ktx.`,
    {
      hint: 'Remove the link. ktx can create everything in .ktx again.',
      exitCode: 2,
    },
  );
}

/** Folders of `.ktx` and their modification times when they had no links. Adding an entry changes the time. */
const checkedFolders = new Map<string, number>();

/** The folders of `.ktx` whose entries ktx itself names. */
const ownFolders = new Set(['cache', 'chats', 'evals', 'kept', 'logs', 'notes']);

/** Looks at `.ktx`, its entries, and theirs in these folders. */
function findLink(state: string): string | undefined {
  try {
    if (lstatSync(state).isSymbolicLink()) return state;
    const entries = readdirSync(state, { withFileTypes: true });
    const entry = entries.find((file) => file.isSymbolicLink());
    if (entry !== undefined) return join(state, entry.name);
    const folders = entries.filter((file) => file.isDirectory() && ownFolders.has(file.name));
    return folders
      .map(({ name }) => findLinkIn(join(state, name)))
      .find((link) => link !== undefined);
  } catch (error) {
    return undefinedIfMissing(error as NodeJS.ErrnoException);
  }
}

function findLinkIn(folder: string): string | undefined {
  const { mtimeMs } = lstatSync(folder);
  if (checkedFolders.get(folder) === mtimeMs) return undefined;
  const link = readdirSync(folder, { withFileTypes: true }).find((file) => file.isSymbolicLink());
  if (link !== undefined) return join(folder, link.name);
  checkedFolders.set(folder, mtimeMs);
  return undefined;
}

/** Creates `.ktx` with its own `.gitignore`, so that nothing in it reaches git and no other ignore file has to be edited. */
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
