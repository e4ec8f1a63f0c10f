import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { shortHash } from '../../lib/hash.ts';
import { ensureStateDirectory, projectPaths } from '../../store/directories.ts';
import { absent, readText, removeFile, writeAtomically } from '../../store/files.ts';

/** A note that was handed in and is not in git yet. */
export interface Note {
  /** From its text, so that handing it in twice is handing it in once. */
  readonly id: string;
  readonly text: string;
}

export function noteId(text: string): string {
  return shortHash(text.trim(), 12);
}

/** On the disk when it returns; needs no lock, so that no running ingest can hold it up. */
export async function storeNote(projectDir: string, text: string): Promise<Note> {
  const id = noteId(text);
  const note = { id, text: `${text.trim()}\n` };
  await mkdir(inboxOf(ensureStateDirectory(projectDir).state), { recursive: true });
  await writeAtomically(fileOf(projectDir, id), note.text, { within: projectDir });
  return note;
}

/** Sorted by id. */
export async function storedNotes(projectDir: string): Promise<Note[]> {
  const names = (await readdir(inboxOf(projectPaths(projectDir).state)).catch(absent)) ?? [];
  const ids = names.flatMap((name) => /^([0-9a-f]{12})\.md$/.exec(name)?.[1] ?? []).sort();
  const notes = await Promise.all(
    ids.map(async (id) => ({ id, text: await readText(fileOf(projectDir, id), projectDir) })),
  );
  return notes.flatMap(({ id, text }) => (text === undefined ? [] : [{ id, text }]));
}

/** Once it is an item of the project. */
export async function forgetNote(projectDir: string, id: string): Promise<void> {
  await removeFile(fileOf(projectDir, id), projectDir);
}

function inboxOf(state: string): string {
  return join(state, 'notes');
}

function fileOf(projectDir: string, id: string): string {
  return join(inboxOf(projectPaths(projectDir).state), `${id}.md`);
}
