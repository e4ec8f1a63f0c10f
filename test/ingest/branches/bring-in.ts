import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { CORE_SCHEMA, load } from 'js-yaml';
import { read, run, write } from '../../store/git-project.ts';
import type { Incoming } from './history.ts';

type Resolution = Incoming['resolution'];

/** Brings a branch into the one that is checked out, and commits the result. */
export function bringIn(dir: string, branch: string, { how, resolution }: Incoming): void {
  const steps: Readonly<Record<typeof how, readonly string[]>> = {
    merge: ['merge', '-q', '--no-edit', branch],
    squash: ['merge', '-q', '--squash', branch],
    rebase: ['rebase', '-q', branch],
    'cherry-pick': ['cherry-pick', `start..${branch}`],
  };
  if (how === 'merge' || how === 'squash') {
    const isClean = tryGit(dir, steps[how]);
    if (!isClean) resolveConflicts(dir, resolution);
    if (!isClean || how === 'squash')
      run(dir, 'commit', '-qm', `${branch} comes in`, '--allow-empty');
  } else {
    goOnUntilDone(dir, { how, step: steps[how], resolution });
  }
  if (resolution !== 'no claims') return;
  rmSync(join(dir, 'claims'), { recursive: true });
  run(dir, 'add', '.');
  run(dir, 'commit', '-qm', 'no claims');
}

/** Reverts the merge or the squash that a commit is. */
export function takeBack(dir: string, commit: string, resolution: Resolution): void {
  const isMerge = run(dir, 'rev-list', '--parents', '-n', '1', commit).split(' ').length > 2;
  const mainline = isMerge ? ['-m', '1'] : [];
  if (!tryGit(dir, ['revert', '--no-commit', ...mainline, commit]))
    resolveConflicts(dir, resolution);
  run(dir, 'commit', '-qm', `Revert ${commit}`, '--allow-empty');
}

interface Replay {
  readonly how: 'rebase' | 'cherry-pick';
  readonly step: readonly string[];
  readonly resolution: Resolution;
}

function goOnUntilDone(dir: string, { how, step, resolution }: Replay): void {
  let next = step;
  for (let tries = 0; tries < 60; tries += 1) {
    if (replay(dir, next)) return;
    resolveConflicts(dir, resolution);
    next = ['-c', 'core.editor=true', how, hasChanges(dir) ? '--continue' : '--skip'];
  }
  throw new Error(`${how} does not end`);
}

/** Nobody replays a commit within the second in which it was made. */
function replay(dir: string, args: readonly string[]): boolean {
  process.env['GIT_COMMITTER_DATE'] = `@${Math.round(Date.now() / 1000) + 60} +0000`;
  try {
    return tryGit(dir, args);
  } finally {
    delete process.env['GIT_COMMITTER_DATE'];
  }
}

function tryGit(dir: string, args: readonly string[]): boolean {
  try {
    run(dir, ...args);
    return true;
  } catch (error) {
    // Anything but a conflict is a fault of this test.
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    if (/conflict|empty|could not apply/i.test(stdout + stderr)) return false;
    throw error;
  }
}

const hasChanges = (dir: string) => run(dir, 'status', '--porcelain', '-uno') !== '';

function resolveConflicts(dir: string, resolution: Resolution): void {
  const conflicted = run(dir, 'diff', '--name-only', '--diff-filter=U').split('\n');
  for (const [index, path] of conflicted.filter(Boolean).entries())
    resolveFile(dir, path, sideOf(path, index, resolution));
  run(dir, 'add', '.');
}

type Side = 'ours' | 'theirs' | 'union' | 'hunks' | 'markers';

function sideOf(path: string, index: number, resolution: Resolution): Side {
  const isClaims = path.startsWith('claims/');
  const isGenerated = isClaims || path.startsWith('sources/') || path === 'conflicts.yaml';
  const sides: Readonly<Record<Resolution, Side>> = {
    ours: 'ours',
    theirs: 'theirs',
    hunks: 'hunks',
    'claims ours': isGenerated ? 'ours' : 'theirs',
    'claims theirs': isGenerated ? 'theirs' : 'ours',
    markers: isClaims ? 'markers' : 'ours',
    // Two descriptions in one entry are no file that a person leaves.
    union: isGenerated ? 'union' : 'ours',
    'by turns': index % 2 === 0 ? 'theirs' : 'ours',
    'no claims': 'ours',
  };
  return sides[resolution];
}

function resolveFile(dir: string, path: string, side: Side): void {
  if (side === 'markers') return;
  const isThere = existsSync(join(dir, path));
  if (side === 'ours' || side === 'theirs' || !isThere) {
    takeSide(dir, path, side === 'theirs' ? 'theirs' : 'ours');
    // Where both renamed a file, git has the places in conflict in the version of each side.
    if (existsSync(join(dir, path))) write(dir, path, resolveHunks(read(dir, path), side));
    return;
  }
  const resolved = resolveHunks(read(dir, path), side);
  if (path.endsWith('.yaml') && !isYaml(resolved)) resolveFile(dir, path, 'ours');
  else write(dir, path, resolved);
}

/** The text with a side of each place in conflict, or both, or by turns. */
function resolveHunks(text: string, side: Exclude<Side, 'markers'>): string {
  let hunks = 0;
  return text.replaceAll(
    /^<{7,} [^\n]*\n((?:(?!={7})[^\n]*\n)*?)={7,}\r?\n((?:(?!>{7})[^\n]*\n)*?)>{7,} [^\n]*\n/gm,
    (_all, ours: string, theirs: string) => {
      hunks += 1;
      if (side === 'union') return ours + theirs;
      return side === 'ours' || (side === 'hunks' && hunks % 2 === 0) ? ours : theirs;
    },
  );
}

/** The version of a side; none where it deleted the file. */
function takeSide(dir: string, path: string, side: 'ours' | 'theirs'): void {
  try {
    run(dir, 'checkout', `--${side}`, '--', path);
  } catch {
    rmSync(join(dir, path), { force: true });
  }
}

function isYaml(text: string): boolean {
  try {
    load(text, { schema: CORE_SCHEMA });
    return true;
  } catch {
    return false;
  }
}
