/**
 * Words that an agent hands in to correct what ktx says about a subject. They decide nothing until
 * a person accepts them.
 */
export interface ProposedWords {
  /** The subject, such as `term:revenue` or `field:shop.orders.amount`. */
  readonly corrects: string;
  readonly words: string;
}

const head = /^---\ncorrects: (\S[^\n]*)\n---\n/;

/** The text of a note that proposes a correction. */
export function writeCorrection({ corrects, words }: ProposedWords): string {
  return `---\ncorrects: ${corrects}\n---\n${words.trim()}\n`;
}

/** Undefined for any other note. */
export function parseCorrection(note: string): ProposedWords | undefined {
  const [all = '', corrects = ''] = head.exec(note) ?? [];
  return corrects === '' ? undefined : { corrects, words: note.slice(all.length).trim() };
}
