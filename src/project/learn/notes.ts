import { join } from 'node:path';
import { parseItemIndex } from '../../ingest/fetch/item-files.ts';
import { UserError } from '../../lib/error.ts';
import { deleteStoredNote, readStoredNotes } from '../../sources/notes/inbox.ts';
import { itemPath } from '../../sources/source.ts';
import { readText, removeFile } from '../../store/files.ts';
import { notesName } from '../open/config.ts';
import type { Project } from '../open/open.ts';
import { ingestProject } from './ingest.ts';

/** A note of the project, or one that waits for the next ingest. */
export interface KnownNote {
  readonly id: string;
  readonly text: string;
  /** Of its file in the project; undefined for a note that no ingest has added yet. */
  readonly path: string | undefined;
}

/** Sorted by id. */
export async function listNotes({ dir }: Project): Promise<readonly KnownNote[]> {
  const index = (await readText(join(dir, itemPath(notesName, 'index.jsonl')), dir)) ?? '';
  const inProject = parseItemIndex(index).map(async ({ key, path: own }) => {
    const path = itemPath(notesName, own);
    return { id: key, path, text: (await readText(join(dir, path), dir)) ?? '' };
  });
  const notes = await Promise.all(inProject);
  const known = new Set(notes.map(({ id }) => id));
  const waiting = (await readStoredNotes(dir)).filter(({ id }) => !known.has(id));
  return [...notes, ...waiting.map((note) => ({ ...note, path: undefined }))]
    .filter(({ text }) => text !== '')
    .sort((a, b) => (a.id < b.id ? -1 : 1));
}

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
  signal: AbortSignal,
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
    await ingestProject(project, { connections: [notesName], signal });
  return note;
}
