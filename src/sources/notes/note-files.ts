import { itemPath } from '../source.ts';

/** The source that every project has: notes from people and agents. */
export const notesName = 'notes';

const folder = itemPath(notesName, '');
const lineName = /^(?!index\.)[^/]+\.jsonl$/;

/** The file with the line of a note. Its text is beside it. */
export function noteLinePath(id: string): string {
  return `${folder}${id}.jsonl`;
}

/** Whether a file of the project has the line of a note. */
export function isNoteLinePath(path: string): boolean {
  return path.startsWith(folder) && lineName.test(path.slice(folder.length));
}
