/** A code span of one line, or what would become HTML, an image, or a link that runs code. */
const active =
  /(?<![`\\])`(?!`)[^`\n]*`(?!`)|<(?=[a-z/!?])|!(?=\[)|\](?=\(\s*(?:<\s*)?(?:javascript|vbscript|data|file):)/gi;

/**
 * Foreign Markdown in which nothing loads, hides or runs when a page is shown: HTML and images are
 * text. Links to pages stay, and so does code.
 */
export function safeMarkdown(text: string): string {
  return text.replaceAll(active, (found) => (found.startsWith('`') ? found : `\\${found}`));
}
