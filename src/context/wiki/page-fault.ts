/**
 * Why a page cannot be taken for what people wrote: another encoding, or the reason in its text
 * (`readTextOrReason`); the NUL characters that a crash leaves; the marks of a merge. What is
 * missing in such a page was taken out by nobody. Undefined if the page can be read.
 */
export function pageFault(text: string): string | undefined {
  if (!text.isWellFormed()) return text.slice(1) || 'it is not valid UTF-8';
  if (text.includes('\0')) return 'it has NUL characters';
  const mark = /^<{7}(?: |$)/m.exec(text);
  if (mark === null || !/^>{7}(?: |$)/m.test(text)) return undefined;
  return `line ${text.slice(0, mark.index).split('\n').length} is a merge conflict marker`;
}
