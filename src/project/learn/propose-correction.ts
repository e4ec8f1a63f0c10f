import type { ProposedWords } from '../../sources/notes/correction.ts';
import { writeCorrection } from '../../sources/notes/correction.ts';
import type { Project } from '../open/open.ts';
import { findCorrected } from '../review/decide/find-corrected.ts';
import { checkNote, type NoteStatus, remember } from './remember.ts';

/**
 * Saves words that correct what ktx says about a subject, for a person to decide about. An error
 * with the choices if the name fits nothing or several things: nobody would find the words again.
 */
export async function proposeCorrection(
  project: Project,
  { corrects, words }: ProposedWords,
  options: Parameters<typeof remember>[2],
): Promise<NoteStatus> {
  checkNote(words.trim());
  const { subject } = await findCorrected(project, corrects.trim(), options.signal);
  return remember(project, writeCorrection({ corrects: subject, words }), options);
}
