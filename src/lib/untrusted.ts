import { randomBytes } from 'node:crypto';

/**
 * A pair of marks to put around text from outside (rows, comments, pages), so that a model can tell it from instructions.
 * They are random, so that the text cannot contain its end mark.
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
