/** Texts as parts of a Markdown document that ktx reads back as they were. */

/**
 * Lines of plain text. What would begin another block of Markdown there is escaped, so that a
 * paragraph stays one.
 */
export function markdownLines(text: string): readonly string[] {
  return text
    .replaceAll('\r', '')
    .split('\n')
    .map((line) => escapeStart(line.trim()))
    .filter((line) => line !== '');
}

function escapeStart(line: string): string {
  if (/^[#>|+*~=<{-]/.test(line)) return `\\${line}`;
  // Would be a line of MDX, which no reader sees.
  if (/^(?:import|export)\s/.test(line)) return ` ${line}`;
  return line.replace(/^(\d{1,9})([.)])/, '$1\\$2');
}

/** A heading of one line. */
export function markdownHeading(level: number, text: string): string {
  return `${'#'.repeat(level)} ${oneLine(text)}`;
}

/** Code between fences that it cannot close. */
export function markdownCode(text: string, language: string): readonly string[] {
  const longest = text.match(/`{3,}/g)?.reduce((most, run) => Math.max(most, run.length), 2) ?? 2;
  const fence = '`'.repeat(longest + 1);
  const word = /^[\w+#-]{1,30}$/.exec(language)?.[0] ?? '';
  return [`${fence}${word}`, ...text.replaceAll('\r', '').split('\n'), fence];
}

/** A table, each row of as many cells as the header; without rows, nothing. */
export function markdownTable(
  header: readonly string[],
  rows: readonly (readonly string[])[],
): readonly string[] {
  if (rows.length === 0 || header.length === 0) return [];
  const line = (cells: readonly string[]) =>
    `| ${header.map((_, index) => escapeCell(cells[index] ?? '')).join(' | ')} |`;
  return [line(header), `|${header.map(() => '---|').join('')}`, ...rows.map(line)];
}

function escapeCell(text: string): string {
  return oneLine(text).replaceAll('\\', '\\\\').replaceAll('|', '\\|');
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

/** Text as inline code, or as it is where it has backticks itself. */
export function markdownInlineCode(text: string): string {
  return text.includes('`') || text.trim() === '' ? text : `\`${text}\``;
}

/** A part of a page that ktx does not read, by its kind; no reader sees the line. */
export function unreadMark(kind: string): string {
  return `<!-- not read: ${kind.replaceAll(/[^\w -]/g, '').slice(0, 60)} -->`;
}

const markPattern = /^ *<!-- not read: ([\w -]{1,60}) -->$/;

/** The kinds of parts that a document marks as not read, with their lines. */
export function listUnreadMarks(body: string): { readonly line: number; readonly kind: string }[] {
  if (!body.includes('<!-- not read: ')) return [];
  return body.split('\n').flatMap((text, index) => {
    const kind = markPattern.exec(text)?.[1];
    return kind === undefined ? [] : [{ line: index + 1, kind }];
  });
}
