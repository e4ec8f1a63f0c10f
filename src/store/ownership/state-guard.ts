import { lstatSync, readdirSync, renameSync, type Stats, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { UserError } from '../../lib/error.ts';
import { readTextOrNothing } from '../files.ts';
import { gitIndexStamp, trackedFiles } from './git-index.ts';
import {
  type KnownState,
  readKnownState,
  rememberNewState,
  saveKnownState,
  stateIdPattern,
} from './known-states.ts';
import { privateFileMode, withdrawInside, withdrawSharedRights } from './private-files.ts';

/** Has the id of the state. The machine that made it knows the id. */
export const idFile = 'id';
/** What a state may have in it without an id: it says nothing about a project. */
const harmlessFiles: readonly string[] = ['.gitignore', 'ktx.schema.json'];

/**
 * `foreign`: this machine did not make it. `tracked`: git would replace its files with those of
 * other people.
 */
export interface StateReport {
  readonly path: string;
  readonly status: 'none' | 'own' | 'foreign' | 'tracked';
  /** Undefined unless the state is used as it is. */
  readonly problem: UserError | undefined;
}

/**
 * Throws `state_foreign` if this machine did not make the folder: what came with a clone or an
 * archive would be shown as facts, replayed as answers that were paid for, or continued as a
 * conversation. Throws `state_in_git` if git tracks files in it.
 */
export function requireOwnState(state: string): void {
  // Also of a folder that is not used: it can be the person's own, made by an older ktx.
  withdrawSharedRights(state);
  const { problem } = inspectState(state);
  if (problem !== undefined) throw problem;
}

export function inspectState(path: string): StateReport {
  const info = lstatSync(path, { throwIfNoEntry: false });
  if (info === undefined) return { path, status: 'none', problem: undefined };
  if (!info.isDirectory()) return { path, status: 'foreign', problem: notAFolder(path) };
  const id = readStateId(path);
  const known = id === undefined ? undefined : readKnownState(id);
  const problem = findTracked(path, id, known);
  if (problem !== undefined) return { path, status: 'tracked', problem };
  if (known !== undefined) return { path, status: 'own', problem: undefined };
  return hasNothing(path)
    ? { path, status: 'none', problem: undefined }
    : { path, status: 'foreign', problem: foreignState(path, info) };
}

/**
 * From now on the state counts as made by this machine. Throws if it belongs to another user or is
 * tracked by git.
 */
export function keepState(path: string): void {
  const { status, problem } = inspectState(path);
  if (status === 'own') return;
  const info = lstatSync(path);
  if (problem !== undefined && (status === 'tracked' || isOfOther(info))) throw problem;
  giveId(path);
  withdrawSharedRights(path);
  withdrawInside(path);
}

/** Moves the state out of use. Returns its new path, or undefined if there is none. */
export function setStateAside(path: string): string | undefined {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
  const time = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const target = join(dirname(path), `${basename(path)}-set-aside-${time}`);
  renameSync(path, target);
  if (lstatSync(target).isDirectory()) {
    withdrawSharedRights(target);
    writeFileSync(join(target, '.gitignore'), '*\n', { mode: privateFileMode });
  }
  return target;
}

/** Gives a state that nobody else made an id that this machine knows. */
export function giveId(path: string, dir: string = dirname(path)): void {
  const id = rememberNewState(dir);
  writeFileSync(join(path, idFile), `${id}\n`, { mode: privateFileMode });
}

/** The key for what `state.db` keeps of values; see `KnownState`. */
export function stateKey(path: string): Buffer {
  requireOwnState(path);
  const known = readKnownState(readStateId(path) ?? '');
  if (known === undefined) throw new Error(`${path} has no key.`);
  return Buffer.from(known.key, 'base64');
}

function readStateId(path: string): string | undefined {
  try {
    const id = readTextOrNothing(join(path, idFile), path).trim();
    return stateIdPattern.test(id) ? id : undefined;
  } catch {
    // A folder of another user.
    return undefined;
  }
}

/** Git is asked only if its index has changed since it was last seen to be without the state. */
function findTracked(
  path: string,
  id: string | undefined,
  known: KnownState | undefined,
): UserError | undefined {
  const stamp = gitIndexStamp(dirname(path));
  if (stamp === undefined || known?.untracked === stamp) return undefined;
  const [first, ...others] = trackedFiles(path);
  if (first !== undefined) return trackedState(path, [first, ...others]);
  if (id !== undefined && known !== undefined) saveKnownState(id, { ...known, untracked: stamp });
  return undefined;
}

function hasNothing(path: string): boolean {
  try {
    return readdirSync(path, { withFileTypes: true }).every((entry) =>
      entry.isDirectory()
        ? readdirSync(join(path, entry.name)).length === 0
        : harmlessFiles.includes(entry.name),
    );
  } catch {
    return false;
  }
}

const isOfOther = ({ uid }: Stats): boolean =>
  process.getuid !== undefined && uid !== process.getuid();

function foreignState(path: string, info: Stats): UserError {
  const owner = isOfOther(info) ? ` It belongs to another user of this machine (${info.uid}).` : '';
  return new UserError(
    'state_foreign',
    `${path} was not made by this version of ktx on this machine, so nothing in it is used: values, answers of models and conversations in it could be somebody else's.${owner}`,
    {
      hint: 'ktx state set-aside moves it away, and ktx starts a new one. If it is yours (an older ktx, a backup, a cache of CI): ktx state keep',
      exitCode: 4,
    },
  );
}

function trackedState(path: string, files: readonly string[]): UserError {
  const shown = files.slice(0, 3).join(', ') + (files.length > 3 ? ', …' : '');
  return new UserError(
    'state_in_git',
    `Git tracks files of ${path} (${shown}), so ktx does not use it: whoever pushes to the repository could change what ktx shows, and your values would be published.`,
    {
      hint: `git rm -r -q --cached ${basename(path)}, commit, then ktx state show`,
      exitCode: 2,
    },
  );
}

function notAFolder(path: string): UserError {
  return new UserError('state_not_a_folder', `${path} is a file; ktx needs a folder there.`, {
    hint: 'ktx state set-aside moves it away',
    exitCode: 2,
  });
}
