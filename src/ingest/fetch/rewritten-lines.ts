import { commitOf, git, type Repository } from '../../store/git.ts';

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

interface FileCommit {
  readonly id: string;
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
  if (history.length === 0) return [];
  const older = history.length < mostCommits ? [] : [`^${history.at(-1)?.[0]}`];
  const [newest] = await fileCommits(repository, ['--max-count=1', 'HEAD', ...older], ['claims']);
  if (newest === undefined || (newest.isRun && newest.id === history[0]?.[0])) return [];
  const found = await fileCommits(repository, ['HEAD', ...older], ['claims']);
  // Where people commit what ktx writes, nothing tells their commits from a squash.
  const areCommitted = found.some(({ hasTrailer }) => hasTrailer);
  const isRun = (commit: FileCommit) => commit.isRun || (!areCommitted && !commit.isReplayed);
  const since = ['HEAD', '--not', ...found.filter(isRun).map(({ id }) => id)];
  const ids = new Set(await listCommits(repository, since));
  const parents = history
    .filter(([id = '', ...own]) => own.length > 1 && ids.has(id))
    .slice(0, mostMerges)
    .flatMap(([, ...own]) => own);
  const isRewritten =
    found.some((commit) => ids.has(commit.id) && !isRun(commit)) ||
    (await fileCommits(repository, since, artifacts)).some(({ isReplayed }) => isReplayed);
  // The files can also be those of HEAD's own last run, beside claims of the other line.
  const last = found
    .filter(isRun)
    .slice(0, 1)
    .map(({ id }) => id);
  return [...parents, ...(isRewritten ? [...last, ...(await runsBesideHead(repository))] : [])];
}

/** The newest commits, each with its parents; none on a branch without commits. */
async function historyOf(repository: Repository): Promise<string[][]> {
  if ((await commitOf(repository, 'HEAD')) === undefined) return [];
  const lines = await linesOf(repository, [
    'rev-list',
    '--parents',
    `--max-count=${mostCommits}`,
    'HEAD',
  ]);
  return lines.map((line) => line.split(' '));
}

/** The commits that changed files of these folders, without merges, newest first. */
async function fileCommits(
  repository: Repository,
  range: readonly string[],
  folders: readonly string[],
): Promise<FileCommit[]> {
  const lines = await linesOf(repository, [
    'log',
    '--no-merges',
    '--full-history',
    '--diff-filter=AM',
    '--format=%H%x09%at%x09%ct%x09%(trailers:key=Ktx-Run,valueonly,separator=%x2C)%x09%s',
    ...range,
    '--',
    ...folders.map((folder) => repository.prefix + folder),
  ]);
  return lines.map((line) => {
    const [id = '', authored, committed, trailer = '', subject = ''] = line.split('\t');
    const hasTrailer = trailer !== '';
    // The message and the time of the author stay.
    const isReplayed = authored !== committed;
    return {
      id,
      isRun: hasTrailer && !isReplayed && subject.startsWith('ktx: '),
      hasTrailer,
      isReplayed,
    };
  });
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
  return [...runs.map(({ id }) => id), ...forks.slice(0, mostLines)];
}

const listCommits = (repository: Repository, range: readonly string[]) =>
  linesOf(repository, ['rev-list', `--max-count=${mostCommits}`, ...range]);

async function linesOf({ root }: Repository, args: readonly string[]): Promise<string[]> {
  const { stdout } = await git(root, args);
  return stdout
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '');
}
