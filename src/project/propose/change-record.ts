import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { pinSchema } from '../../context/claims/pins.ts';
import { shortHash } from '../../lib/hash.ts';
import { canonicalJson, parseJson } from '../../lib/json.ts';
import {
  createPrivateFolder,
  ensureStateDirectory,
  projectPaths,
} from '../../store/directories.ts';
import { readText, removeFile, undefinedIfMissing, writeAtomically } from '../../store/files.ts';
import { decisionSchema } from '../review/decide/decision.ts';

const proposalSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('note'), text: z.string(), corrects: z.string().optional() }),
  z.strictObject({ kind: z.literal('decision'), decision: decisionSchema }),
  z.strictObject({
    kind: z.literal('review'),
    pins: z.array(pinSchema).min(1),
    /** In words, for whoever reviews it. */
    says: z.string(),
    /** What the person had before them; undefined if nobody said so. */
    seen: z
      .strictObject({
        named: z.array(z.string()),
        kind: z.string().optional(),
        seen: z.array(z.string()),
      })
      .optional(),
  }),
  z.strictObject({ kind: z.literal('forget'), note: z.string() }),
  z.strictObject({ kind: z.literal('ingest'), connections: z.array(z.string()) }),
]);

/** What somebody asked for, in a form that can be done again on another base. */
export type Proposal = z.infer<typeof proposalSchema>;

const recordSchema = z.strictObject({
  id: z.string().regex(/^[0-9a-f]{12}$/),
  proposal: proposalSchema,
  /** As commits and pins name them. */
  author: z.string(),
  role: z.string().optional(),
  branch: z.string(),
  /** What ktx has put on the branch, and the commit of the base below it. */
  commit: z.string().optional(),
  base: z.string().optional(),
  request: z.strictObject({ number: z.int(), url: z.string() }).optional(),
  /** Why the host does not have it as it is here. */
  problem: z
    .strictObject({ code: z.string(), message: z.string(), next: z.string().optional() })
    .optional(),
});

/** A change that was asked for and that nobody has merged or closed yet, as far as ktx knows. */
export type ChangeRecord = z.infer<typeof recordSchema>;

/** A change, without what was written. */
export interface ChangeSummary extends Pick<ChangeRecord, 'id' | 'author' | 'branch' | 'problem'> {
  readonly kind: Proposal['kind'];
  /** Undefined if the host has no request for it. */
  readonly url: string | undefined;
}

export function summarizeRecord(record: ChangeRecord): ChangeSummary {
  const { id, author, branch, problem, proposal, request } = record;
  return { id, kind: proposal.kind, author, branch, url: request?.url, problem };
}

interface ProposedBy {
  /** Undefined on a server without login. */
  readonly person: string | undefined;
  readonly author: string;
  readonly role: string | undefined;
}

/** The record of a proposal that nobody has made yet. The same one has the same branch. */
export function newRecord(proposal: Proposal, { person, author, role }: ProposedBy): ChangeRecord {
  const id = shortHash(canonicalJson([person ?? null, keyOf(proposal)]));
  const branch = `ktx/${branchPart(author)}-${proposal.kind}-${id}`;
  return { id, proposal, author, branch, ...(role !== undefined && { role }) };
}

/** What makes two proposals of one person the same: a new decision replaces the last one. */
function keyOf(proposal: Proposal): Parameters<typeof canonicalJson>[0] {
  if (proposal.kind === 'decision') {
    const { subject, kind } = proposal.decision;
    return ['decision', subject, kind];
  }
  if (proposal.kind === 'ingest') return ['ingest', ...proposal.connections.toSorted()];
  if (proposal.kind === 'review')
    return ['review', ...proposal.pins.map(({ subject, kind }) => `${subject} ${kind}`).toSorted()];
  if (proposal.kind === 'forget') return ['forget', proposal.note];
  const { text, corrects = null } = proposal;
  return ['note', text.normalize('NFC').trim().toLowerCase().replaceAll(/\s+/g, ' '), corrects];
}

/** What of a name a branch may have: nothing that git, a shell or a URL reads. */
function branchPart(name: string): string {
  const letters = name.normalize('NFKD').toLowerCase();
  const part = letters.replaceAll(/[^a-z0-9]+/g, '-').slice(0, 30);
  return part.replaceAll(/^-+|-+$/g, '') || 'someone';
}

/** Writes the record to the disk before anything is done for it. */
export async function saveRecord(dir: string, record: ChangeRecord): Promise<void> {
  createPrivateFolder(ensureStateDirectory(dir).changes);
  const text = `${JSON.stringify(record, null, 2)}\n`;
  await writeAtomically(recordFile(dir, record.id), text, { within: dir });
}

export async function readRecord(dir: string, id: string): Promise<ChangeRecord | undefined> {
  return recordSchema.safeParse(parseJson((await readText(recordFile(dir, id), dir)) ?? '')).data;
}

export async function removeRecord(dir: string, id: string): Promise<void> {
  await removeFile(recordFile(dir, id), dir);
}

/** Sorted by branch. Asks nobody. */
export async function listRecords(dir: string): Promise<readonly ChangeRecord[]> {
  const names = (await readdir(projectPaths(dir).changes).catch(undefinedIfMissing)) ?? [];
  const ids = names.flatMap((name) => /^([0-9a-f]{12})\.json$/.exec(name)?.[1] ?? []);
  const records = await Promise.all(ids.map((id) => readRecord(dir, id)));
  return records
    .filter((record) => record !== undefined)
    .sort((a, b) => (a.branch < b.branch ? -1 : 1));
}

function recordFile(dir: string, id: string): string {
  return join(projectPaths(dir).changes, `${id}.json`);
}
