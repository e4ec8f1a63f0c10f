import type { Block, Row } from './block.ts';

/**
 * The blocks of Markdown or MDX: front matter, comments, `import` and `export` lines are left out, code is text. Total: any
 * text is a document.
 */
export function markdownBlocks(body: string): Block[] {
  const lines = withoutComments(body.replace(/^\uFEFF/, '').replaceAll('\r', '')).split('\n');
  const blocks: Block[] = [];
  let paragraph: { readonly line: number; readonly texts: string[] } | undefined;
  const flush = () => {
    if (paragraph)
      blocks.push({
        kind: 'text',
        text: plainText(paragraph.texts.join('\n')),
        line: paragraph.line,
      });
    paragraph = undefined;
  };
  let index = frontMatterEnd(lines);
  while (index < lines.length) {
    const line = lines[index] ?? '';
    const number = index + 1;
    const heading = /^ {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*$/.exec(line);
    const table = tableAt(lines, index);
    const fence = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (heading || table || fence !== undefined || line.trim() === '') flush();
    if (heading)
      blocks.push({
        kind: 'heading',
        level: heading[1]?.length ?? 1,
        text: plainText(heading[2] ?? ''),
        line: number,
      });
    else if (table) blocks.push(table.block);
    else if (
      fence === undefined &&
      line.trim() !== '' &&
      !/^(import|export)\s.*(from|['"{=])/.test(line)
    ) {
      paragraph ??= { line: number, texts: [] };
      paragraph.texts.push(line.trim());
    }
    if (fence !== undefined) index = fenceEnd(lines, index, fence);
    else index = table?.end ?? index + 1;
  }
  flush();
  return blocks;
}

/** Comments give way to blank space, so that no line moves. */
function withoutComments(body: string): string {
  return body.replaceAll(/<!--[\s\S]*?-->|\{\/\*[\s\S]*?\*\/\}/g, (comment) =>
    comment.replaceAll(/[^\n]/g, ' '),
  );
}

function frontMatterEnd(lines: readonly string[]): number {
  if (lines[0]?.trimEnd() !== '---') return 0;
  const end = lines.findIndex((line, index) => index > 0 && /^(---|\.\.\.)\s*$/.test(line));
  return end < 0 ? 0 : end + 1;
}

function fenceEnd(lines: readonly string[], start: number, fence: string): number {
  const end = lines.findIndex(
    (line, index) => index > start && line.trim().startsWith(fence) && /^[`~]+$/.test(line.trim()),
  );
  return end < 0 ? lines.length : end + 1;
}

function tableAt(
  lines: readonly string[],
  index: number,
): { block: Block; end: number } | undefined {
  const [head = '', rule = ''] = lines.slice(index, index + 2);
  if (
    !head.includes('|') ||
    !/^ {0,3}\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/.test(rule) ||
    !rule.includes('-')
  )
    return undefined;
  const header = cellsOf(head);
  if (cellsOf(rule).length !== header.length) return undefined;
  const rows: Row[] = [];
  let end = index + 2;
  for (; (lines[end] ?? '').includes('|'); end += 1)
    rows.push({ cells: cellsOf(lines[end] ?? ''), line: end + 1 });
  return { block: { kind: 'table', header, rows, line: index + 1 }, end };
}

function cellsOf(line: string): string[] {
  const inner = line
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '');
  return inner.split(/(?<!\\)\|/).map((cell) => plainText(cell.replaceAll('\\|', '|')).trim());
}

/** Links and images as their words, emphasis without its marks, tags taken out; code keeps its backticks. */
function plainText(text: string): string {
  // A link on a piece of code first, since code is left as it is.
  const parts = text.replaceAll(/!?\[(`[^`]*`)\]\([^)]*\)/g, '$1').split(/(`[^`]*`)/);
  const bare = parts.map((part, index) => (index % 2 === 1 ? part : withoutMarks(part)));
  return bare.join('').trim();
}

function withoutMarks(text: string): string {
  return text
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/\[([^\]]*)\]\[[^\]]*\]/g, '$1')
    .replaceAll(/<br\s*\/?>/gi, ' ')
    .replaceAll(/<\/?[A-Za-z][^<>]*>/g, '')
    .replaceAll(/(\*\*|__)(?=\S)(.*?\S)\1/g, '$2')
    .replaceAll(/(?<![\w*])\*(?=\S)([^*]*?\S)\*(?![\w*])/g, '$1')
    .replaceAll(/(?<![\w_])_(?=\S)([^_]*?\S)_(?![\w_])/g, '$1')
    .replaceAll(/\\([\\`*_{}[\]()#+.!|<>-])/g, '$1');
}
