import { UserError } from '../../lib/error.ts';
import { git } from '../../store/git.ts';
import type { Project } from '../open/open.ts';
import type { ApplyOptions } from './apply-proposal.ts';
import {
  type ChangeRecord,
  type ChangeSummary,
  listRecords,
  removeRecord,
  summarizeRecord,
} from './change-record.ts';
import { asProposer, openConfiguredHost, sendRecord } from './propose-change.ts';
import { changeRef, requireRepository } from './workspace.ts';

export interface ListedChange extends ChangeSummary {
  /** `merged` and `closed` are over: the next list does not have them. */
  readonly state: 'open' | 'merged' | 'closed' | 'kept' | 'unchanged';
}

interface ListOptions extends Omit<ApplyOptions, 'sourceDir'> {
  /** True: what the host does not have is sent again, and what it has is put on its base. */
  readonly send: boolean;
}

/** The changes that were proposed, as the host has them now. */
export async function listChangesOnHost(
  project: Project,
  options: ListOptions,
): Promise<readonly ListedChange[]> {
  const records = await listRecords(project.dir);
  const listed: ListedChange[] = [];
  if (records.length === 0) return listed;
  const host = await openConfiguredHost(project, options.signal);
  for (const record of records) {
    const { request } = record;
    const state = request === undefined ? 'kept' : await host.readState(request.number);
    if (state === 'merged' || state === 'closed') await forget(project.dir, record);
    const isOver = state === 'merged' || state === 'closed';
    if (isOver || !options.send) listed.push({ ...summarizeRecord(record), state });
    else listed.push(await sendAgain(project, record, options));
  }
  return listed;
}

async function forget(dir: string, { id }: ChangeRecord): Promise<void> {
  const { root } = await requireRepository(dir);
  await git(root, ['update-ref', '-d', changeRef(id)]);
  await removeRecord(dir, id);
}

async function sendAgain(
  project: Project,
  record: ChangeRecord,
  options: ListOptions,
): Promise<ListedChange> {
  const known = summarizeRecord(record);
  try {
    const { state, request, problem } = await sendRecord(
      asProposer(project, record),
      record,
      options,
    );
    return { ...known, state, url: request?.url ?? known.url, problem };
  } catch (error) {
    if (!(error instanceof UserError) || options.signal.aborted) throw error;
    const { code, message } = error;
    return { ...known, state: 'kept', problem: { code, message } };
  }
}
