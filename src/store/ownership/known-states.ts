import { randomBytes } from 'node:crypto';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { UserError } from '../../lib/error.ts';
import { isRecord, parseJson } from '../../lib/json.ts';
import { readTextOrNothing } from '../files.ts';
import { privateFileMode, privateFolderMode } from './private-files.ts';

/** What this machine remembers, outside of the project, about a `.ktx` that it made. */
export interface KnownState {
  /** The project's folder when the state was made; for people who read the file. */
  readonly dir: string;
  /** Encrypts values in `state.db`: 32 bytes in base64. */
  readonly key: string;
  /** The stamp of the git index that was last seen to contain nothing of the state. */
  readonly untracked?: string | undefined;
}

export const stateIdPattern = /^[0-9a-f]{32}$/;

/** Undefined if this machine did not make the state, or if its entry was removed. */
export function readKnownState(id: string): KnownState | undefined {
  if (!stateIdPattern.test(id)) return undefined;
  const text = readTextOrNothing(entryPath(id), projectsFolder());
  const known = parseJson(text);
  return isKnownState(known) ? known : undefined;
}

/** Without zod: commands that need nothing else of it start in half the time. */
function isKnownState(value: unknown): value is KnownState {
  if (!isRecord(value)) return false;
  const { dir, key, untracked } = value;
  const isStamp = untracked === undefined || typeof untracked === 'string';
  return typeof dir === 'string' && typeof key === 'string' && key.length === 44 && isStamp;
}

/** Makes an id and a key for a new state, and remembers both. */
export function rememberNewState(dir: string): string {
  const id = randomBytes(16).toString('hex');
  saveKnownState(id, { dir, key: randomBytes(32).toString('base64') });
  return id;
}

export function saveKnownState(id: string, known: KnownState): void {
  const path = entryPath(id);
  const temporary = `${path}.${randomBytes(4).toString('hex')}`;
  try {
    mkdirSync(projectsFolder(), { recursive: true, mode: privateFolderMode });
    writeFileSync(temporary, `${JSON.stringify(known)}\n`, { mode: privateFileMode, flag: 'wx' });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw new UserError(
      'user_state_not_writable',
      `ktx cannot remember ${known.dir} in ${projectsFolder()}.`,
      {
        hint: 'Set XDG_STATE_HOME to a folder that only you can write.',
        exitCode: 2,
        cause: error,
      },
    );
  }
}

const entryPath = (id: string): string => join(projectsFolder(), `${id}.json`);

function projectsFolder(): string {
  return join(userStateFolder(), 'projects');
}

/** `~/.local/state/ktx`, or where the XDG variables and Windows put it. */
function userStateFolder(): string {
  const { XDG_STATE_HOME: state = '', LOCALAPPDATA: local = '' } = process.env;
  if (isAbsolute(state)) return join(state, 'ktx');
  if (process.platform === 'win32' && isAbsolute(local)) return join(local, 'ktx', 'state');
  return join(homedir(), '.local', 'state', 'ktx');
}
