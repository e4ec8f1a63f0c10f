import { join } from 'node:path';
import { forgetNote, storedNotes } from '../../sources/notes/inbox.ts';
import { itemPath } from '../../sources/source.ts';
import { readText } from '../../store/files.ts';
import { notesName } from '../open/config.ts';

/** Takes out of the inbox what the project holds, byte for byte. */
export async function tidyInbox(dir: string): Promise<void> {
  for (const { id, text } of await storedNotes(dir)) {
    const kept = await readText(join(dir, itemPath(notesName, `${id}.md`)), dir);
    if (kept === text) await forgetNote(dir, id);
  }
}
