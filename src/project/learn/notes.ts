import { join } from 'node:path';
import { noCommitReasons } from '../../ingest/publish/commit-rendering.ts';
import { UserError } from '../../lib/error.ts';
import { deleteStoredNote } from '../../sources/notes/inbox.ts';
import { removeFile } from '../../store/files.ts';
import { type KnownNote, listNotes } from '../open/known-notes.ts';
import type { Project } from '../open/open.ts';
import { ingestProject } from './ingest.ts';
import { notesName } from '../../sources/notes/note-files.ts';

/** The id of a note that says the same, whatever its case and white space. */
export async function findSameNote(project: Project, text: string): Promise<string | undefined> {
  const wanted = foldNote(text);
  return (await listNotes(project)).find((note) => foldNote(note.text) === wanted)?.id;
}

function foldNote(text: string): string {
  return text.normalize('NFC').toLowerCase().replaceAll(/\s+/g, ' ').trim();
}

export interface ForgottenNote extends KnownNote {
  /** Why git still has it; undefined if a commit took it out, or none ever had it. */
  readonly uncommitted?: string;
}

/** Then git has of the note what the folder has: nothing. */
const nothingLeft: ReadonlySet<string | undefined> = new Set([
  undefined,
  noCommitReasons.unchanged,
  noCommitReasons.restored,
]);

/**
 * Removes a note and, with an ingest of the notes, everything that only it supported. Returns the
 * note that is gone. `id` may be the beginning of an id, of at least four characters.
 */
export async function forgetNote(
  project: Project,
  id: string,
  { signal, commit }: { readonly signal: AbortSignal; readonly commit?: false },
): Promise<ForgottenNote> {
  const notes = await listNotes(project);
  const [note, ...others] = notes.filter((own) => id.length >= 4 && own.id.startsWith(id));
  if (note === undefined || others.length > 0)
    throw new UserError(
      'note_unknown',
      note === undefined ? `There is no note ${id}.` : `${id} is the beginning of several ids.`,
      { hint: 'ktx forget lists all notes with their ids', exitCode: 2 },
    );
  await deleteStoredNote(project.dir, note.id);
  if (note.path === undefined) return note;
  await removeFile(join(project.dir, note.path), project.dir);
  if (project.warehouses.length === 0) return note;
  const report = await ingestProject(project, { connections: [notesName], signal, commit });
  const uncommitted = report.commit.none;
  return nothingLeft.has(uncommitted) ? note : { ...note, uncommitted };
}
