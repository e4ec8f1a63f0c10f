import { UserError } from '../../lib/error.ts';
import { commitOf, git, gitOutput, type Repository } from '../git.ts';

/** Where a commit goes. */
export interface CommitTarget {
  /** `HEAD`, or the full name of a branch that is not checked out. */
  readonly ref: string;
  /** The commit that the ref has now; undefined if it has none. */
  readonly tip: string | undefined;
  /** The commit on which the changes are based; undefined for the first commit. */
  readonly base: Repository['head'];
}

/**
 * HEAD, or the branch of that name. A new branch, and one whose commits HEAD has, starts from HEAD.
 * Throws a `UserError` for a name that git does not take, and for a branch of another worktree.
 */
export async function commitTarget(repository: Repository, branch?: string): Promise<CommitTarget> {
  const { root, head } = repository;
  const onHead = { ref: 'HEAD', tip: head?.commit, base: head };
  if (branch === undefined) return onHead;
  const ref = `refs/heads/${branch}`;
  const { code } = await git(root, ['check-ref-format', ref], { allow: [1] });
  if (code !== 0 || branch.startsWith('-'))
    throw new UserError('branch_invalid', `${JSON.stringify(branch)} is no name of a branch.`, {
      exitCode: 2,
    });
  if ((await gitOutput(root, ['symbolic-ref', '--quiet', 'HEAD'], { allow: [1] })) === ref)
    return onHead;
  if (head === undefined)
    throw new UserError('branch_without_commit', 'A branch needs a commit to start from.', {
      hint: 'git add ktx.yaml && git commit',
      exitCode: 2,
    });
  await requireNotCheckedOut(root, ref);
  const tip = await commitOf(repository, ref);
  if (tip === undefined) return { ref, tip, base: head };
  const ancestry = await git(root, ['merge-base', '--is-ancestor', tip, head.commit], {
    allow: [1],
  });
  if (ancestry.code === 0) return { ref, tip, base: head };
  const tree = await gitOutput(root, ['rev-parse', '--verify', `${tip}^{tree}`]);
  return { ref, tip, base: { commit: tip, tree } };
}

/** A commit would leave the files of a worktree that has the branch behind. */
async function requireNotCheckedOut(root: string, ref: string): Promise<void> {
  const listed = await gitOutput(root, ['worktree', 'list', '--porcelain']);
  const blocks = listed.split('\n\n').map((block) => block.split('\n'));
  const [where] = blocks.find((lines) => lines.includes(`branch ${ref}`)) ?? [];
  if (where === undefined) return;
  const message = `The branch is checked out in ${where.replace(/^worktree /, '')}.`;
  throw new UserError('branch_checked_out', message, {
    hint: 'Run ktx ingest there, or name another branch.',
    exitCode: 2,
  });
}
