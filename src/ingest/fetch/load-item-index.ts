import { join } from 'node:path';
import { joinItemIndex, type ItemIndexLine } from './item-files.ts';
import { isNoteLinePath, notesName } from '../../sources/notes/note-files.ts';
import { itemPath } from '../../sources/source.ts';
import { listConfinedFolder } from '../../store/confined-file.ts';
import { readText } from '../../store/files.ts';

/** The index of a source as it is on disk: a line for each item. */
export async function loadItemIndex(dir: string, source: string): Promise<ItemIndexLine[]> {
  const common = itemPath(source, 'index.jsonl');
  const own = source === notesName ? await listNoteLines(dir) : [];
  const texts = [common, ...own].map((path) => readText(join(dir, path), dir));
  return joinItemIndex((await Promise.all(texts)).map((text = '') => text));
}

/** The files with the lines of notes, sorted. */
export async function listNoteLines(dir: string): Promise<readonly string[]> {
  const entries = await listConfinedFolder(join(dir, itemPath(notesName, '')), dir);
  const paths = (entries ?? []).map(({ name }) => itemPath(notesName, name));
  return paths.filter(isNoteLinePath).sort();
}
