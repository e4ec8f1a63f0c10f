/**
 * Words that an agent hands in to correct what ktx says about a subject. They decide nothing until
 * a person accepts them.
 */
export interface ProposedWords {
  /** As the agent names it: `term:revenue`, `orders.amount`. */
  readonly corrects: string;
  readonly words: string;
}

const head = /^---\ncorrects: (\S{1,200})\n---\n/;

/** The text of a note that proposes a correction. */
export function writeCorrection({ corrects, words }: ProposedWords): string {
  const subject = corrects.trim().replaceAll(/\s+/g, '_').slice(0, 200);
  return `---\ncorrects: ${subject}\n---\n${words.trim()}\n`;
}

/** Undefined for any other note. */
export function parseCorrection(note: string): ProposedWords | undefined {
  const [all = '', corrects = ''] = head.exec(note) ?? [];
  return corrects === '' ? undefined : { corrects, words: note.slice(all.length).trim() };
}
