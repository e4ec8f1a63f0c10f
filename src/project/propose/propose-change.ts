import { UserError } from '../../lib/error.ts';
import { commitFiles } from '../../store/commit/commit.ts';
import { git, gitOutput, type Repository } from '../../store/git.ts';
import { withProjectLock } from '../../store/lock.ts';
import { fetchBranch, pushBranch, remoteTip } from '../../store/remote-git.ts';
import type { GitHostConfig } from './host/git-host-config.ts';
import { refuseCredential } from '../learn/remember.ts';
import { type Project, viewAs } from '../open/open.ts';
import { authorName } from '../review/author-name.ts';
import { applyProposal, type AppliedProposal, type ApplyOptions } from './apply-proposal.ts';
import {
  type ChangeRecord,
  newRecord,
  type Proposal,
  readRecord,
  removeRecord,
  saveRecord,
} from './change-record.ts';
import { requestBody, requestTitle } from './change-text.ts';
import { type GitHost, openGitHost } from './host/git-host.ts';
import {
  baseOf,
  changeRef,
  listChanges,
  openWorkspace,
  refTip,
  requireRepository,
} from './workspace.ts';

export type ProposeOptions = Omit<ApplyOptions, 'sourceDir'>;

/**
 * What became of a proposal. `open`: it waits on the host for a reviewer. `kept`: the host does not
 * have it, `problem` says why; it is on this disk. `unchanged`: the base has it already.
 */
export interface ProposedChange extends Pick<
  ChangeRecord,
  'id' | 'branch' | 'request' | 'problem'
> {
  readonly state: 'open' | 'kept' | 'unchanged';
  readonly report?: AppliedProposal['report'];
}

/**
 * Makes a change on a branch of its own and asks on the host to take it over. The folder of the
 * project stays as it is. Throws if there is nothing that could be proposed; a fault of the host is
 * in the result.
 */
export async function proposeChange(
  project: Project,
  proposal: Proposal,
  options: ProposeOptions,
): Promise<ProposedChange> {
  const isDecided = proposal.kind === 'decision' || proposal.kind === 'review';
  if (isDecided) refuseCredential('decision', JSON.stringify(proposal));
  const author = shownName(await authorName(project));
  const { person, role } = project;
  const made = newRecord(proposal, { person, author, role });
  const known = await readRecord(project.dir, made.id);
  // The same note in other letters is the note that is there.
  const proposed = isDecided ? proposal : (known?.proposal ?? proposal);
  const record = { ...known, ...made, proposal: proposed };
  await saveRecord(project.dir, record);
  const asAuthor = { ...project, person: author };
  try {
    return await sendRecord(asAuthor, record, options);
  } catch (error) {
    // What somebody wrote stays; what cannot be decided or was taken back does not.
    if (known === undefined && proposal.kind !== 'note') await removeRecord(project.dir, made.id);
    throw error;
  }
}

/** Does what a record says on the base as it is now, and sends it. */
export async function sendRecord(
  project: Project,
  record: ChangeRecord,
  options: ProposeOptions,
): Promise<ProposedChange> {
  const { onEvent, signal } = options;
  const onWait = (message: string): void => onEvent?.({ type: 'lock_awaited', message });
  return withProjectLock(project.dir, () => sendLocked(project, record, options), {
    signal,
    onWait,
  }).catch(async (error: unknown) => {
    if (!(error instanceof HostFault)) throw error;
    const { code, message, hint } = error.fault;
    const problem = { code, message, ...(hint !== undefined && { next: hint }) };
    const kept = { ...record, problem };
    await saveRecord(project.dir, kept);
    const { id, branch, request } = kept;
    return { id, branch, request, problem, state: 'kept' as const };
  });
}

/** An error of the host or of the way to it: the proposal itself is sound. */
class HostFault extends Error {
  readonly fault: UserError;
  constructor(fault: UserError) {
    super(fault.message);
    this.fault = fault;
  }
}

async function atHost<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof UserError ? new HostFault(error) : error;
  }
}

/** The host that `serve.git` names. Throws `trust_required` if nobody approved it. */
export async function openConfiguredHost(project: Project, signal: AbortSignal): Promise<GitHost> {
  const config = gitHostOf(project);
  const secrets = await project.trust.requireGitHost();
  return openGitHost(config, secrets(config.token), signal);
}

function gitHostOf({ config }: Pick<Project, 'config'>): GitHostConfig {
  if (config.serve.git !== undefined) return config.serve.git;
  throw new UserError('changes_unconfigured', 'ktx.yaml names no host for changes.', {
    hint: 'serve.changes: pull_request and serve.git in ktx.yaml',
    exitCode: 2,
  });
}

async function sendLocked(
  project: Project,
  record: ChangeRecord,
  options: ProposeOptions,
): Promise<ProposedChange> {
  const { signal } = options;
  const { base: branch } = gitHostOf(project);
  const repository = await requireRepository(project.dir);
  const host = await atHost(() => openConfiguredHost(project, signal));
  const remote = { root: repository.root, remote: host.remote, signal };
  const base = await atHost(async () => {
    await host.check();
    return fetchBranch(remote, { branch, into: 'refs/ktx/base' });
  });
  const made = await buildChange(project, { ...record, base }, options);
  const { id } = record;
  const { report } = made;
  if (made.commit === undefined) {
    await removeRecord(project.dir, id);
    return { id, branch: record.branch, state: 'unchanged', report };
  }
  const { commit } = made;
  const request = await atHost(async () => {
    const tip = await remoteTip(remote, record.branch);
    if (tip !== commit) {
      if (tip !== undefined) await requireOwnTip(repository, { remote, record, tip });
      await pushBranch(remote, { branch: record.branch, commit, replaces: tip });
    }
    const { title, body } = made;
    return host.propose({ branch: record.branch, title, body });
  });
  const { problem: _solved, ...sound } = record;
  await saveRecord(project.dir, { ...sound, base, commit, request });
  return { id, branch: record.branch, request, state: 'open', report };
}

interface BuiltChange extends Pick<AppliedProposal, 'report'> {
  /** Undefined if the base has it all. */
  readonly commit: string | undefined;
  readonly title: string;
  readonly body: string;
}

/** One commit on the base that has the change. */
async function buildChange(
  project: Project,
  { id, proposal, author, base: commit = '' }: ChangeRecord,
  options: ProposeOptions,
): Promise<BuiltChange> {
  await using workspace = await openWorkspace(project, commit);
  const { repository } = workspace;
  const all = { ...options, sourceDir: project.dir };
  const { text, report } = await applyProposal(workspace.project, proposal, all);
  const changes = await listChanges(workspace);
  const title = requestTitle(text);
  const body = requestBody(text, { author, files: changes.map(({ path }) => path) });
  const built = { title, body, report };
  if (changes.length === 0) return { ...built, commit: undefined };
  const [base, tip] = await Promise.all([baseOf(repository, commit), refTip(repository, id)]);
  const outcome = await commitFiles(repository, workspace.project.dir, {
    target: { ref: changeRef(id), tip, base },
    changes,
    message: `${title}\n\n${changeTrailer}: ${id}`,
    runId: options.runId,
    author,
  });
  if (outcome.kind !== 'committed') {
    if (outcome.kind === 'unchanged') return { ...built, commit: undefined };
    const message = 'The files changed while ktx committed them.';
    throw new UserError('publish_raced', message, { retryable: true });
  }
  // Nothing new for the host, if only the time of the commit is.
  const isSame = tip !== undefined && (await isSameCommit(repository, tip, outcome.commit));
  if (!isSame) return { ...built, commit: outcome.commit };
  await git(repository.root, ['update-ref', changeRef(id), tip]);
  return { ...built, commit: tip };
}

const changeTrailer = 'Ktx-Change';

/** True for the same files, on the same base, by the same author. */
async function isSameCommit(repository: Repository, one: string, two: string): Promise<boolean> {
  const read = (commit: string) =>
    gitOutput(repository.root, ['log', '-1', '--no-show-signature', '--format=%T %P %an', commit]);
  return (await read(one)) === (await read(two));
}

interface ForeignTip {
  readonly remote: Parameters<typeof fetchBranch>[0];
  readonly record: ChangeRecord;
  readonly tip: string;
}

/** Throws if the branch has something that ktx did not put there. */
async function requireOwnTip(
  repository: Repository,
  { remote, record, tip }: ForeignTip,
): Promise<void> {
  if (tip === record.commit) return;
  const found = await fetchBranch(remote, { branch: record.branch, into: 'refs/ktx/found' });
  const message = await gitOutput(repository.root, ['log', '-1', '--format=%cn%n%B', found]);
  // Another server of the team made it, or this one before its disk was lost.
  if (/^ktx$/m.test(message.split('\n')[0] ?? '') && message.includes(trailerOf(record))) return;
  throw new UserError('change_taken_over', `Somebody else has changed ${record.branch}.`, {
    hint: 'Add to that branch there, or close its request and delete it; then ask again.',
  });
}

function trailerOf({ id }: ChangeRecord): string {
  return `${changeTrailer}: ${id}`;
}

/** A name without the address of a company. */
function shownName(name: string): string {
  const own = name.replace(/@.*$/s, '').replaceAll(/[\p{C}<>]/gu, ' ');
  return own.trim().slice(0, 60) || 'someone';
}

/** The project as whoever proposed it saw it. */
export function asProposer(project: Project, { author, role }: ChangeRecord): Project {
  return viewAs(project, { name: author, role, person: undefined });
}
