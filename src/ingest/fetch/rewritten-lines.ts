import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { claimsPath } from '../../context/claims/claims-file.ts';
import { wikiClaimsFolder, wikiClaimsPath } from '../../context/wiki/wiki-paths.ts';
import { git, type Repository } from '../../store/git.ts';

/** Older commits are not looked at: a history can have a million. */
const mostCommits = 1000;
/** More merges without an ingest after them are not looked at. */
const mostMerges = 10;
/** Of the lines that a squash, a rebase or a cherry-pick brought in, and of branches. */
const mostLines = 20;

/** Of the reflog. */
const mostSteps = 200;

/** The folders whose files ktx and people both write. */
const artifacts = ['semantic-layer', 'wiki'];

interface Commit {
  readonly id: string;
  readonly parents: readonly string[];
  /** It is as a run of ktx made it. */
  readonly isRun: boolean;
  /** A run made it, or what it was before a rebase or a cherry-pick. */
  readonly hasTrailer: boolean;
  /** A rebase, a cherry-pick or an amendment made it from another commit. */
  readonly isReplayed: boolean;
}

/**
 * The commits that ktx's files may come from, apart from HEAD's own history: the parents of merges
 * that no run has followed yet, and, where a squash, a rebase or a cherry-pick brought in files of
 * ktx, the runs on the branches and in the reflog that HEAD does not have. Where those are gone,
 * what they left counts as a person's.
 */
export async function findOtherLines(repository: Repository): Promise<readonly string[]> {
  const history = await historyOf(repository);
  const [head] = history;
  if (head === undefined) return [];
  const older = history.length < mostCommits ? [] : [`^${history.at(-1)?.id}`];
  if (head.isRun) {
    const [newest] = await fileCommits(repository, ['--max-count=1', 'HEAD', ...older], ['claims']);
    if (newest === head.id) return [];
  }
  const changing = new Set(await fileCommits(repository, ['HEAD', ...older], ['claims']));
  const found = history.filter(({ id, parents }) => parents.length < 2 && changing.has(id));
  if (found.length === 0) return [];
  // Where people commit what ktx writes, nothing tells their commits from a squash.
  const areCommitted = found.some(({ hasTrailer }) => hasTrailer);
  const isRun = (commit: Commit) => commit.isRun || (!areCommitted && !commit.isReplayed);
  const runs = found.filter(isRun).map(({ id }) => id);
  const since = withoutReachable(history, runs);
  const parents = since
    .filter((commit) => commit.parents.length > 1)
    .slice(0, mostMerges)
    .flatMap((commit) => commit.parents);
  const isRewritten =
    since.some((commit) => changing.has(commit.id) && !isRun(commit)) ||
    (await haveReplayedArtifacts(repository, since, runs)) ||
    (await haveReturned(repository, runs));
  // The files can also be those of HEAD's own last run, beside claims of the other line.
  const last = runs.slice(0, 1);
  return [...parents, ...(isRewritten ? [...last, ...(await runsBesideHead(repository))] : [])];
}

interface CopiedValues {
  /** Runs of other lines. */
  readonly commits: readonly string[];
  /** The claims files of what people's commits changed since the last run. */
  readonly paths: readonly string[];
}

/**
 * Where values of ktx can come from that a commit of a person brought in without its claims: a
 * squash whose conflicts ended with the claims of this side does that.
 */
export async function findCopiedValues(repository: Repository): Promise<CopiedValues> {
  const history = await historyOf(repository);
  const runs = history.filter(({ isRun }) => isRun).map(({ id }) => id);
  if (history[0]?.isRun !== false || runs.length === 0) return { commits: [], paths: [] };
  const folders = artifacts.map((folder) => repository.prefix + folder);
  const range = ['HEAD', '--not', ...runs, '--', ...folders];
  const { stdout } = await git(repository.root, [
    'log',
    '--no-merges',
    '--name-only',
    '-z',
    '--format=',
    ...range,
  ]);
  const changed = stdout.toString('utf8').split('\0').filter(Boolean);
  const paths = new Set(
    changed.flatMap((path) => claimsAbout(path.slice(repository.prefix.length))),
  );
  return { commits: paths.size === 0 ? [] : await runsBesideHead(repository), paths: [...paths] };
}

function claimsAbout(artifact: string): readonly string[] {
  if (artifact.startsWith('wiki/')) return [wikiClaimsPath, wikiClaimsFolder];
  const [, connection = '', dataset = ''] =
    /^semantic-layer\/([^/]+)\/([^/]+)\.yaml$/.exec(artifact) ?? [];
  return dataset === '' ? [] : [claimsPath(connection, dataset)];
}

/** The newest commits, newest first; none on a branch without commits. */
async function historyOf(repository: Repository): Promise<readonly Commit[]> {
  if (repository.head === undefined) return [];
  const lines = await linesOf(repository, [
    'log',
    `--max-count=${mostCommits}`,
    '--format=%H%x09%P%x09%at%x09%ct%x09%(trailers:key=Ktx-Run,valueonly,separator=%x2C)%x09%s',
    'HEAD',
  ]);
  return lines.map((line) => {
    const [id = '', parents = '', authored, committed, trailer = '', subject = ''] =
      line.split('\t');
    const hasTrailer = trailer !== '';
    // The message and the time of the author stay.
    const isReplayed = authored !== committed;
    return {
      id,
      parents: parents.split(' ').filter((parent) => parent !== ''),
      isRun: hasTrailer && !isReplayed && subject.startsWith('ktx: '),
      hasTrailer,
      isReplayed,
    };
  });
}

/** The commits of the history that none of these leads to. */
function withoutReachable(history: readonly Commit[], from: readonly string[]): readonly Commit[] {
  const parentsOf = new Map(history.map(({ id, parents }) => [id, parents]));
  const reached = new Set(from);
  for (const id of reached) for (const parent of parentsOf.get(id) ?? []) reached.add(parent);
  return history.filter(({ id }) => !reached.has(id));
}

/** True if one of the commits since these runs is replayed and changed files of ktx. */
async function haveReplayedArtifacts(
  repository: Repository,
  since: readonly Commit[],
  runs: readonly string[],
): Promise<boolean> {
  const replayed = new Set(since.flatMap(({ id, isReplayed }) => (isReplayed ? [id] : [])));
  if (replayed.size === 0) return false;
  const changing = await fileCommits(repository, ['HEAD', '--not', ...runs], artifacts);
  return changing.some((id) => replayed.has(id));
}

/**
 * True if a file of ktx came back since these runs that was taken out before: a squash does that
 * whose conflicts ended with all claims of this side, and the page of the other.
 */
async function haveReturned(repository: Repository, runs: readonly string[]): Promise<boolean> {
  const paths = async (filter: string, range: readonly string[]): Promise<string[]> => {
    const folders = artifacts.map((folder) => repository.prefix + folder);
    const options = ['--no-merges', '--no-renames', `--diff-filter=${filter}`, '--name-only', '-z'];
    const args = ['log', ...options, '--format=', ...range, '--', ...folders];
    const { stdout } = await git(repository.root, args);
    return stdout.toString('utf8').split('\0');
  };
  const added = await paths('A', ['HEAD', '--not', ...runs]);
  const present = added.filter((path) => path !== '' && existsSync(join(repository.root, path)));
  if (present.length === 0) return false;
  const removed = new Set(await paths('D', [`--max-count=${mostCommits}`, 'HEAD']));
  return present.some((path) => removed.has(path));
}

/** The commits that changed files of these folders, without merges, newest first. */
function fileCommits(
  repository: Repository,
  range: readonly string[],
  folders: readonly string[],
): Promise<string[]> {
  return linesOf(repository, [
    'log',
    '--no-merges',
    '--full-history',
    '--diff-filter=AM',
    '--format=%H',
    ...range,
    '--',
    ...folders.map((folder) => repository.prefix + folder),
  ]);
}

/**
 * The newest commits of claims on branches and in the reflog that HEAD's history lacks, and where
 * those left it.
 */
async function runsBesideHead(repository: Repository): Promise<string[]> {
  const branches = await linesOf(repository, [
    'for-each-ref',
    `--count=${mostLines}`,
    '--sort=-committerdate',
    '--format=%(objectname)',
    'refs/heads',
    'refs/remotes',
  ]);
  const former = await linesOf(repository, [
    'log',
    '--walk-reflogs',
    `--max-count=${mostSteps}`,
    '--format=%H',
    'HEAD',
  ]);
  const tips = [...new Set([...branches, ...former])];
  const beside = [...tips, '--not', 'HEAD'];
  const runs = await fileCommits(repository, [`--max-count=${mostLines}`, ...beside], ['claims']);
  const reached = await linesOf(repository, ['rev-list', '--boundary', ...beside]);
  const forks = reached.filter((line) => line.startsWith('-')).map((line) => line.slice(1));
  return [...runs, ...forks.slice(0, mostLines)];
}

async function linesOf({ root }: Repository, args: readonly string[]): Promise<string[]> {
  const { stdout } = await git(root, args);
  return stdout
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '');
}
