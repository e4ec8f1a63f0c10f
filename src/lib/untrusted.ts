import { randomBytes } from 'node:crypto';

/**
 * A pair of marks to put around text from outside (rows, comments, pages), so that a model can tell
 * it from instructions. They are random, so that the text cannot contain its end mark.
 */
export function untrustedMarks(label: string): { readonly begin: string; readonly end: string } {
  const mark = randomBytes(6).toString('hex');
  return {
    begin: `<untrusted-${mark} source="${label.replaceAll('"', "'")}">`,
    end: `</untrusted-${mark}>`,
  };
}

/** The text between a new pair of marks. */
export function untrustedBlock(label: string, text: string): string {
  const { begin, end } = untrustedMarks(label);
  return `${begin}\n${text}\n${end}`;
}

/**
 * The first `length` characters of a text that may contain marked blocks. A block that is cut gets
 * its end mark back, and a mark that is cut is left out.
 */
export function shortenMarked(text: string, length: number): string {
  if (text.length <= length) return text;
  const kept = text.slice(0, length).replace(/<\/?(?:u[a-z0-9-]*(?: [^>\n]{0,300})?)?$/, '');
  const open = [...kept.matchAll(/<untrusted-([0-9a-f]{12}) /g)]
    .map(([, mark = '']) => `</untrusted-${mark}>`)
    .filter((end) => !kept.includes(end));
  return [`${kept.toWellFormed()} … (cut)`, ...open.toReversed()].join('\n');
}
