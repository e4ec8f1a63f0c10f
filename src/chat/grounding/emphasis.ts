/** The text with blanks for the marks of bold and italics; every character keeps its place. */
export function withoutEmphasis(text: string): string {
  return text
    .replaceAll('**', '  ')
    .replaceAll(
      /(?<![\p{L}\p{N}*×])\*([^\s*](?:[^*\n]*[^\s*])?)\*(?![\p{L}\p{N}*])/gu,
      (_, inside: string) => ` ${inside} `,
    );
}
