import { randomBytes } from 'node:crypto';
import { lstatSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { UserError } from '../lib/error.ts';
import {
  undefinedIfMissing,
  fileAccessError,
  readTextOrNothing,
  temporarySuffix,
} from './files.ts';
import {
  privateFileMode,
  privateFolderMode,
  withdrawSharedRights,
} from './ownership/private-files.ts';
import { giveId, idFile, requireOwnState } from './ownership/state-guard.ts';

/**
 * Absolute paths of the configuration and of the files that only ktx reads and writes. Creates
 * nothing. A path inside of `.ktx` is given only if this machine made the folder: see
 * `requireOwnState`.
 */
export function projectPaths(dir: string) {
  const state = join(dir, '.ktx');
  refuseLinks(state);
  const inState = (name: string): string => {
    requireOwnState(state);
    return join(state, name);
  };
  return {
    config: join(dir, 'ktx.yaml'),
    /** The local folder `.ktx`, never in git. */
    get state() {
      return inState('');
    },
    get stateDb() {
      return inState('state.db');
    },
    get journalDb() {
      return inState('journal.db');
    },
    get egressDb() {
      return inState('egress.db');
    },
    get lockDb() {
      return inState('lock.db');
    },
    get cache() {
      return inState('cache');
    },
    get logs() {
      return inState('logs');
    },
    get chats() {
      return inState('chats');
    },
    get evals() {
      return inState('evals');
    },
    get audit() {
      return inState('audit');
    },
    get notes() {
      return inState('notes');
    },
    get verified() {
      return inState('verified');
    },
    get changes() {
      return inState('changes');
    },
    get worktree() {
      return inState('worktree');
    },
    get publishing() {
      return inState('publishing.jsonl');
    },
  };
}

/**
 * ktx writes here without asking, and a cloned repository can contain links: neither the folder nor
 * its entries may be links.
 */
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

/**
 * Folders of `.ktx` and their modification times when they had no links. Adding an entry changes
 * the time.
 */
const checkedFolders = new Map<string, number>();

/** The folders of `.ktx` whose entries ktx itself names. */
const ownFolders = new Set([
  'audit',
  'cache',
  'changes',
  'chats',
  'evals',
  'kept',
  'logs',
  'notes',
  'verified',
]);

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
    const failure = error as NodeJS.ErrnoException;
    // A folder of another user: `requireOwnState` says so.
    return failure.code === 'EACCES' ? undefined : undefinedIfMissing(failure);
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

/**
 * Creates `.ktx` with its own `.gitignore`, so that nothing in it reaches git and no other ignore
 * file has to be edited. Takes the rights of other users from what is there.
 */
export function ensureStateDirectory(dir: string): ReturnType<typeof projectPaths> {
  const paths = projectPaths(dir);
  const state = join(dir, '.ktx');
  try {
    if (lstatSync(state, { throwIfNoEntry: false }) === undefined) createState(dir, state);
    requireOwnState(state);
    if (lstatSync(join(state, idFile), { throwIfNoEntry: false }) === undefined) giveId(state);
    for (const name of readdirSync(state)) withdrawSharedRights(join(state, name));
    writeIgnoreFile(state);
  } catch (error) {
    throw fileAccessError('written', state, error);
  }
  return paths;
}

/**
 * Complete at once: another ktx never sees the folder without its id. If both create one, the first
 * stays.
 */
function createState(dir: string, state: string): void {
  const fresh = join(dir, `.ktx-${randomBytes(4).toString('hex')}${temporarySuffix}`);
  mkdirSync(fresh, { recursive: true, mode: privateFolderMode });
  try {
    writeIgnoreFile(fresh);
    giveId(fresh, dir);
    renameSync(fresh, state);
  } catch (error) {
    rmSync(fresh, { recursive: true, force: true });
    if (lstatSync(state, { throwIfNoEntry: false }) === undefined) throw error;
  }
}

function writeIgnoreFile(state: string): void {
  const ignoreFile = join(state, '.gitignore');
  if (readTextOrNothing(ignoreFile, state) === '*\n') return;
  writeFileSync(ignoreFile, '*\n', { mode: privateFileMode });
}

/**
 * Creates a folder in `.ktx`, and `.ktx` itself. Outside of a `.ktx` it is an ordinary private
 * folder.
 */
export function createPrivateFolder(path: string): void {
  const at = path.indexOf(`${sep}.ktx${sep}`);
  if (at >= 0) ensureStateDirectory(path.slice(0, at));
  mkdirSync(path, { recursive: true, mode: privateFolderMode });
  withdrawSharedRights(path);
}
