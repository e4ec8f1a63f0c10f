import type { IngestEvent } from '../../ingest/event.ts';
import type { LoopTools } from '../../ingest/loop-tools.ts';
import type { IngestReport } from '../../ingest/report.ts';
import { UserError } from '../../lib/error.ts';
import { ingestProject } from '../learn/ingest.ts';
import { forgetNote } from '../learn/notes.ts';
import { proposeCorrection } from '../learn/propose-correction.ts';
import { remember } from '../learn/remember.ts';
import type { Project } from '../open/open.ts';
import { readConflicts } from '../review/conflicts.ts';
import { requireUnchanged } from '../review/decide/changed-question.ts';
import { createDecision, requireSeen } from '../review/decide/decide.ts';
import type { Decision } from '../review/decide/decision.ts';
import type { Proposal } from './change-record.ts';
import {
  type ChangeText,
  describeDecision,
  describeForgotten,
  describeIngest,
  describeNote,
  describeReview,
} from './change-text.ts';

export interface ApplyOptions {
  readonly signal: AbortSignal;
  readonly tools: LoopTools;
  readonly runId: string;
  /** Where relative paths of sources begin. */
  readonly sourceDir: string;
  readonly onEvent?: ((event: IngestEvent) => void) | undefined;
}

export interface AppliedProposal {
  readonly text: ChangeText;
  readonly report?: IngestReport;
}

/** Does what somebody asked for in the files of the project; nothing is committed. */
export async function applyProposal(
  project: Project,
  proposal: Proposal,
  options: ApplyOptions,
): Promise<AppliedProposal> {
  if (proposal.kind === 'note') return applyNote(project, proposal, options);
  if (proposal.kind === 'decision') return applyDecision(project, proposal.decision, options);
  if (proposal.kind === 'review') return applyReview(project, proposal, options);
  if (proposal.kind === 'forget') {
    const note = await forgetNote(project, proposal.note, { ...options, commit: false });
    return { text: describeForgotten(note) };
  }
  const { connections } = proposal;
  const report = await ingestProject(project, { connections, commit: false, ...options });
  return { text: describeIngest(report), report };
}

async function applyNote(
  project: Project,
  { text, corrects }: Extract<Proposal, { readonly kind: 'note' }>,
  options: ApplyOptions,
): Promise<AppliedProposal> {
  const note =
    corrects === undefined
      ? await remember(project, text, options)
      : await proposeCorrection(project, { corrects, words: text }, options);
  if (note.path === undefined)
    throw new UserError('note_unread', note.warning ?? 'The note is in no file of the project.', {
      hint: 'ktx.yaml needs a warehouse that notes are about.',
    });
  return { text: describeNote(note, text) };
}

async function applyDecision(
  project: Project,
  decision: Decision,
  { signal, runId }: ApplyOptions,
): Promise<AppliedProposal> {
  const check = () => requireSeen(project, decision);
  await check();
  const { subject, kind } = decision;
  const conflict = (await readConflicts(project.dir)).find(
    (own) => own.subject === subject && own.kind === kind,
  );
  const pin = await createDecision(project, decision);
  const report = await ingestProject(project, {
    connections: [],
    pins: [pin],
    beforeDecision: check,
    commit: false,
    signal,
    runId,
  });
  return { text: describeDecision(decision, conflict), report };
}

async function applyReview(
  project: Project,
  { pins, says, seen }: Extract<Proposal, { readonly kind: 'review' }>,
  { signal, runId }: ApplyOptions,
): Promise<AppliedProposal> {
  const check = seen && (() => requireUnchanged(project, seen));
  await check?.();
  const report = await ingestProject(project, {
    connections: [],
    pins,
    beforeDecision: check,
    commit: false,
    signal,
    runId,
  });
  return { text: describeReview(pins, says), report };
}
