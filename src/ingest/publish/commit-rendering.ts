import { parseClaims, renderClaims, uniteClaims } from '../../context/claims/claims-file.ts';
import { isDecisionEvidence } from '../../context/claims/model-decisions.ts';
import { commitFiles, refreshIndex } from '../../store/commit/commit.ts';
import type { CommitTarget } from '../../store/commit/commit-target.ts';
import { type CommitDemand, demandOnCommits } from '../../store/commit/commit-policy.ts';
import { ignoredPaths, unfinishedGitOperation, type Repository } from '../../store/git.ts';
import type { PublishStep } from '../event.ts';
import type { CommitReport } from '../report.ts';
import type { FileTree } from './project-files.ts';
import { finalTexts, type Rendering } from './rendering.ts';

/** Why there is no commit when none is needed. */
export const noCommitReasons = {
  unchanged: 'unchanged',
  restored: 'the files are again as they are committed',
  ignored: 'git ignores what changed',
  beside: 'only in the working tree, beside your uncommitted edits',
  asked: 'only written, as you asked; review and commit the files yourself',
  signature:
    'only written, because this repository signs its commits; commit the files yourself, or set git: commit in ktx.yaml',
  hook: 'only written, because this repository has commit hooks; commit the files yourself, or set git: commit in ktx.yaml',
} as const;

interface CommitInput {
  readonly dir: string;
  readonly runId: string;
  readonly message: string;
  readonly render: (tree: FileTree) => Rendering;
  readonly onStep: (step: PublishStep, path?: string) => void;
  readonly repository: Repository;
  readonly target: CommitTarget;
  /** Whether changes are committed; unset: where the repository demands nothing of commits. */
  readonly git: 'commit' | 'write' | undefined;
  readonly branch?: string | undefined;
  /** The files of the commit that the changes are based on; empty before the first. */
  readonly committed: FileTree;
  /** The files on disk before they were written, and what was written. */
  readonly before: FileTree;
  readonly rendering: Rendering;
  /** The files on disk when the run began to publish. */
  readonly filesAtStart: FileTree;
}

/** Commits ktx's changes on the target. Undefined if it moved in the meantime. */
export async function commitRendering(input: CommitInput): Promise<CommitReport | undefined> {
  const { dir, runId, message, onStep, repository, target, branch } = input;
  const operation = unfinishedGitOperation(repository);
  if (operation !== undefined) return { none: `${operation} under way` };
  const { changes, none } = await findChanges(input);
  if (changes.length === 0) return { none };
  const declined = await reasonNotToCommit(input);
  if (declined !== undefined) return { none: noCommitReasons[declined] };
  const outcome = await commitFiles(repository, dir, { target, changes, message, runId });
  if (outcome.kind === 'raced') return undefined;
  if (outcome.kind !== 'committed') return { none };
  onStep('commit_made');
  const id = outcome.commit;
  const named = outcome.isFirstUnnamed ? { isFirstUnnamed: true as const } : {};
  // The files in the working tree belong to HEAD, which has not moved.
  if (target.ref !== 'HEAD') return { id, branch, ...named };
  const made = { commit: id, parent: target.base?.commit };
  const isRefreshed = await refreshIndex(repository, dir, made);
  if (!isRefreshed)
    return {
      id,
      ...named,
      warning: 'another git process holds the index; the next ingest brings it up to date',
    };
  onStep('index_refreshed');
  return { id, ...named };
}

async function reasonNotToCommit({
  git,
  repository,
}: CommitInput): Promise<'asked' | CommitDemand | undefined> {
  if (git === 'commit') return undefined;
  return git === 'write' ? 'asked' : demandOnCommits(repository);
}

/** The changes to commit, and the reason to report if there is nothing to commit. */
async function findChanges(input: CommitInput) {
  const { render, repository, committed, before, rendering, filesAtStart } = input;
  const onDisk = finalTexts(rendering.writes);
  const after = new Map<string, string | undefined>([...before, ...onDisk]);
  const uncommitted = [...after.keys()].filter((path) => !committed.has(path));
  const ignored = await ignoredPaths(repository, uncommitted);
  const head = new Map([...committed, ...[...before].filter(([path]) => ignored.has(path))]);
  const { writes } = render(addModelDecisions(head, before));
  const leftAlone = new Set(rendering.leftAlone.map(({ path }) => path));
  const texts = finalTexts(writes.filter(({ artifact = '' }) => !leftAlone.has(artifact)));
  const changes = [...texts]
    .filter(([path, text]) => head.get(path) !== text && !ignored.has(path))
    .map(([path, text]) => ({ path, text, onDisk: after.get(path) === text }));

  const written = [...onDisk].filter(([path, text]) => filesAtStart.get(path) !== text);
  const pending = written.filter(([path, text]) => committed.get(path) !== text);
  const areIgnored = pending.every(([path]) => ignored.has(path));
  const reason = pending.length === 0 ? 'restored' : areIgnored ? 'ignored' : 'beside';
  return { changes, none: noCommitReasons[written.length === 0 ? 'unchanged' : reason] };
}

/**
 * HEAD with the decisions of models that only the files on disk have: a killed run paid for them,
 * and no later run asks again.
 */
function addModelDecisions(head: FileTree, disk: FileTree): FileTree {
  const claimsFiles = [...disk].flatMap(([path, text]): [string, string][] => {
    if (!path.startsWith('claims/') || head.get(path) === text) return [];
    const { claims, ...file } = parseClaims(path, head.get(path) ?? '');
    const decisions = parseClaims(path, text).claims.filter(({ evidence }) =>
      evidence.some(isDecisionEvidence),
    );
    const united = renderClaims({ ...file, claims: uniteClaims([...claims, ...decisions]) });
    return decisions.length === 0 || united === undefined ? [] : [[path, united]];
  });
  return claimsFiles.length === 0 ? head : new Map([...head, ...claimsFiles]);
}
