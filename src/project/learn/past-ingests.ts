import { usageByRun, type RunCalls } from '../../llm/governor/usage.ts';
import { findRepository, gitOutput } from '../../store/git.ts';
import { UserError } from '../../lib/error.ts';
import type { Project } from '../open/open.ts';

/** An ingest that changed something, or paid for something. */
export interface PastIngest {
  readonly run: string;
  /** ISO time at which it ended. */
  readonly at: string;
  /** Undefined if it committed nothing, or git does not have its commit any more. */
  readonly commit?: string | undefined;
  /** What the commit says that was updated. */
  readonly updated?: string | undefined;
  /** Requests to models. */
  readonly calls: number;
  /** US dollars; null if some of it is unknown. */
  readonly costUsd: number | null;
}

/** Runs in the journal that are looked through: most are questions, which have no stages. */
const mostRuns = 500;

/** The last ones, newest first. Those that found nothing new and paid nothing are not kept. */
export async function listPastIngests(project: Project, most: number): Promise<PastIngest[]> {
  const paid = usageByRun(project.journal().db, mostRuns);
  const usages = new Map(paid.map((usage) => [usage.run, usage]));
  const committed = await listCommits(project.dir, most);
  const runs = new Set(committed.map(({ run }) => run));
  const uncommitted = paid.filter((usage) => isIngest(usage) && !runs.has(usage.run));
  return [
    ...committed.map(({ run, at, commit, updated }) => {
      const { calls = 0, costUsd = 0 } = usages.get(run) ?? {};
      return { run, at, commit, updated, calls, costUsd };
    }),
    ...uncommitted.map(({ run, ended: at, calls, costUsd }) => ({ run, at, calls, costUsd })),
  ]
    .sort((a, b) => (a.at > b.at ? -1 : 1))
    .slice(0, most);
}

/** Questions of people use one role, and search another; the stages of an ingest have their own. */
function isIngest({ roles }: RunCalls): boolean {
  return roles.some((role) => role !== 'default' && role !== 'embedding');
}

interface RunCommit extends Pick<PastIngest, 'run' | 'at' | 'updated'> {
  readonly commit: string;
}

const subject = 'ktx: update ';

async function listCommits(dir: string, most: number): Promise<readonly RunCommit[]> {
  const repository = await findRepository(dir).catch(undefinedIfUnusable);
  if (repository?.head === undefined) return [];
  const format = '%H%x09%cI%x09%(trailers:key=Ktx-Run,valueonly,separator=%x2C)%x09%s';
  const options = [`--max-count=${most}`, `--grep=^${subject}`, `--format=${format}`];
  const text = await gitOutput(repository.root, ['log', ...options, 'HEAD', '--', dir]);
  return text.split('\n').flatMap((line) => {
    const [commit = '', at = '', run = '', words = ''] = line.split('\t');
    if (run === '' || !words.startsWith(subject)) return [];
    return [{ commit, at: new Date(at).toISOString(), run, updated: words.slice(subject.length) }];
  });
}

/** Without git there are no commits, and everything else still works. */
function undefinedIfUnusable(error: unknown): undefined {
  if (error instanceof UserError) return undefined;
  throw error;
}
