import { join } from 'node:path';
import { deleteStoredNote, readStoredNotes } from '../../sources/notes/inbox.ts';
import { itemPath } from '../../sources/source.ts';
import { readText } from '../../store/files.ts';
import { notesName } from '../../sources/notes/note-files.ts';

/** Removes from the inbox every note that the project holds unchanged. */
export async function tidyInbox(dir: string): Promise<void> {
  for (const { id, text } of await readStoredNotes(dir)) {
    const ingested = await readText(join(dir, itemPath(notesName, `${id}.md`)), dir);
    if (ingested === text) await deleteStoredNote(dir, id);
  }
}
