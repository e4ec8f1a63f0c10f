import { join } from 'node:path';
import { readStoredNotes } from '../../sources/notes/inbox.ts';
import { itemPath } from '../../sources/source.ts';
import { readText } from '../../store/files.ts';
import { loadItemIndex } from '../../ingest/fetch/load-item-index.ts';
import type { Project } from './open.ts';
import { notesName } from '../../sources/notes/note-files.ts';

/** A note of the project, or one that waits for the next ingest. */
export interface KnownNote {
  readonly id: string;
  readonly text: string;
  /** Of its file in the project; undefined for a note that no ingest has added yet. */
  readonly path: string | undefined;
}

/** Sorted by id. */
export async function listNotes({ dir }: Project): Promise<readonly KnownNote[]> {
  const inProject = (await loadItemIndex(dir, notesName)).map(async ({ key, path: own }) => {
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
