import { randomBytes } from 'node:crypto';

/**
 * The pair of marks that text from outside (rows, comments, pages) stands between, so that a model can tell it from
 * instructions. The marks are random, so the text cannot contain its own end.
 */
export function untrustedMarks(label: string): { readonly begin: string; readonly end: string } {
  const mark = randomBytes(6).toString('hex');
  return {
    begin: `<untrusted-${mark} source="${label.replaceAll('"', "'")}">`,
    end: `</untrusted-${mark}>`,
  };
}

/** The text between a pair of marks of its own. */
export function untrustedBlock(label: string, text: string): string {
  const { begin, end } = untrustedMarks(label);
  return `${begin}\n${text}\n${end}`;
}
