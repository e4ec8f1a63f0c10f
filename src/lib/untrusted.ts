import { randomBytes } from 'node:crypto';

/**
 * Wraps text that came from outside (rows, comments, pages) so that a model can tell it from instructions.
 * The delimiter is random, so the text cannot contain its own end.
 */
export function untrustedBlock(label: string, text: string): string {
  const mark = randomBytes(6).toString('hex');
  return `<untrusted-${mark} source="${label.replaceAll('"', "'")}">\n${text}\n</untrusted-${mark}>`;
}
