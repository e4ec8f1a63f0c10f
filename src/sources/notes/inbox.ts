import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { shortHash } from '../../lib/hash.ts';
import {
  createPrivateFolder,
  ensureStateDirectory,
  projectPaths,
} from '../../store/directories.ts';
import { undefinedIfMissing, readText, removeFile, writeAtomically } from '../../store/files.ts';

/** A note that was handed in and is not in git yet. */
export interface StoredNote {
  /** Made from the text, so that the same note handed in twice is one note. */
  readonly id: string;
  readonly text: string;
}

export function noteId(text: string): string {
  return shortHash(text.trim(), 12);
}

/**
 * Stores a note; it is on disk when the promise resolves. Takes no lock, so that a running ingest
 * does not delay it.
 */
export async function storeNote(projectDir: string, text: string): Promise<StoredNote> {
  const note = { id: noteId(text), text: `${text.trim()}\n` };
  createPrivateFolder(ensureStateDirectory(projectDir).notes);
  await writeAtomically(noteFile(projectDir, note.id), note.text, { within: projectDir });
  return note;
}

/** Sorted by id. */
export async function readStoredNotes(projectDir: string): Promise<StoredNote[]> {
  const names = (await readdir(projectPaths(projectDir).notes).catch(undefinedIfMissing)) ?? [];
  const ids = names.flatMap((name) => /^([0-9a-f]{12})\.md$/.exec(name)?.[1] ?? []).sort();
  const notes = await Promise.all(
    ids.map(async (id) => ({ id, text: await readText(noteFile(projectDir, id), projectDir) })),
  );
  return notes.flatMap(({ id, text }) => (text === undefined ? [] : [{ id, text }]));
}

/** For a note that is an item of the project by now. */
export async function deleteStoredNote(projectDir: string, id: string): Promise<void> {
  await removeFile(noteFile(projectDir, id), projectDir);
}

function noteFile(projectDir: string, id: string): string {
  return join(projectPaths(projectDir).notes, `${id}.md`);
}
