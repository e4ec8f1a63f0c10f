import { join } from 'node:path';
import type { LoopTools } from '../../ingest/loop-tools.ts';
import { noCommitReasons } from '../../ingest/publish/commit-rendering.ts';
import { UserError } from '../../lib/error.ts';
import { findCredential } from '../../lib/patterns/credentials.ts';
import { parseCorrection } from '../../sources/notes/correction.ts';
import { noteId, readStoredNotes, storeNote } from '../../sources/notes/inbox.ts';
import { itemPath } from '../../sources/source.ts';
import { readText } from '../../store/files.ts';
import type { Project } from '../open/open.ts';
import { ingestProject } from './ingest.ts';
import { findSameNote } from './notes.ts';
import { notesName } from '../../sources/notes/note-files.ts';
import { loadItemIndex } from '../../ingest/fetch/load-item-index.ts';

const maxCharacters = 100_000;

/**
 * `stored`: saved on this disk; the next ingest adds it to the project. `pending`: in the project,
 * and no model has read it yet. `read`: a model has read it. `proposed`: a correction, which waits
 * for a person. `unknown`: there is no such note.
 */
export interface NoteStatus {
  readonly id: string;
  readonly status: 'stored' | 'pending' | 'read' | 'proposed' | 'unknown';
  readonly path?: string;
  /** Why it did not get further. The note itself is safe. */
  readonly warning?: string;
}

interface RememberOptions {
  readonly signal: AbortSignal;
  /** With these a configured model reads the note at once. */
  readonly tools: LoopTools;
}

/**
 * Saves a note to the disk first, then adds it to the files of the project. Nothing is committed:
 * the next ingest commits all notes together. The same text again is the same note, whatever its
 * case and white space.
 */
export async function remember(
  project: Project,
  text: string,
  { signal, tools }: RememberOptions,
): Promise<NoteStatus> {
  const note = text.trim();
  checkNote(note);
  const id = (await findSameNote(project, note)) ?? noteId(note);
  const known = await readNoteStatus(project, id);
  const isInProject = known.path !== undefined;
  const hasModel = project.config.llm.provider.backend !== 'none';
  if (isInProject && (known.status !== 'pending' || !hasModel)) return known;
  // A person may have corrected the text in the project, so it is not stored again.
  if (!isInProject) await storeNote(project.dir, note);
  if (project.warehouses.length === 0)
    return { id, status: 'stored', warning: 'ktx.yaml has no warehouse yet' };
  try {
    return await ingestNote(project, id, { signal, tools });
  } catch (error) {
    if (!(error instanceof UserError) || signal.aborted) throw error;
    return { ...(await readNoteStatus(project, id)), warning: error.message };
  }
}

/** Throws `note_unusable` for what is no note, and `note_secret` for what nobody should keep. */
export function checkNote(note: string): void {
  refuseCredential('note', note);
  if (note !== '' && note.length <= maxCharacters && note.isWellFormed()) return;
  throw new UserError(
    'note_unusable',
    note === '' ? 'The note is empty.' : 'The note is too long or is not valid text.',
    { hint: `a note is text of at most ${maxCharacters} characters`, exitCode: 2 },
  );
}

/** What people write here goes to git, and from there to everybody. */
export function refuseCredential(what: 'note' | 'decision', text: string): void {
  const found = findCredential(text);
  if (found === undefined) return;
  const message = `The ${what} has what looks like ${found}, so it was not kept.`;
  throw new UserError(`${what}_secret`, message, {
    hint: 'Leave the secret out. If it is real, revoke it: whoever wrote this had it in a chat.',
    exitCode: 2,
  });
}

async function ingestNote(
  project: Project,
  id: string,
  options: RememberOptions,
): Promise<NoteStatus> {
  const { commit, stages } = await ingestProject(project, {
    connections: [notesName],
    commit: false,
    ...options,
  });
  const status = await readNoteStatus(project, id);
  const [failure] = stages.flatMap(({ failures }) => failures);
  if (failure !== undefined && status.status === 'pending')
    return { ...status, warning: failure.message };
  if (commit.none === noCommitReasons.ignored)
    return { ...status, warning: `no ingest will commit it: ${commit.none}` };
  return status;
}

export async function readNoteStatus({ dir }: Project, id: string): Promise<NoteStatus> {
  const path = itemPath(notesName, `${id}.md`);
  const indexLine = (await loadItemIndex(dir, notesName)).find(({ key }) => key === id);
  if (indexLine !== undefined) {
    const text = (await readText(join(dir, path), dir)) ?? '';
    if (parseCorrection(text) !== undefined) return { id, status: 'proposed', path };
    return { id, status: indexLine.extractor.endsWith('+pending') ? 'pending' : 'read', path };
  }
  const isStored = (await readStoredNotes(dir)).some((note) => note.id === id);
  return { id, status: isStored ? 'stored' : 'unknown' };
}
