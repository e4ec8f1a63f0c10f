import { join } from 'node:path';
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

/**
 * Removes a note and, with an ingest of the notes, everything that only it supported. Returns the
 * note that is gone. `id` may be the beginning of an id, of at least four characters.
 */
export async function forgetNote(
  project: Project,
  id: string,
  { signal, commit }: { readonly signal: AbortSignal; readonly commit?: false },
): Promise<KnownNote> {
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
  if (project.warehouses.length > 0)
    await ingestProject(project, { connections: [notesName], signal, commit });
  return note;
}
