import {
  markdownCode,
  markdownHeading,
  markdownLines,
  markdownTable,
  unreadMark,
} from '../documents/markdown-text.ts';
import {
  blockContentSchema,
  isTrashed,
  type NotionBlock,
  type NotionProperty,
  readRichText,
} from './api-schemas.ts';
import { plainText, richTextMarkdown } from './rich-text.ts';

/** A block with the blocks inside of it. */
export interface BlockTree {
  readonly block: NotionBlock;
  readonly children: readonly BlockTree[];
}

/** The Markdown of a page; undefined if it has no content. */
export function pageMarkdown(title: string, blocks: readonly BlockTree[]): string | undefined {
  const lines = blocksMarkdown(blocks, '');
  if (lines.length === 0) return undefined;
  return `${[markdownHeading(1, title || 'Untitled'), '', ...lines].join('\n').trimEnd()}\n`;
}

/** Lines with an empty one after each block, so that no two blocks become one. */
function blocksMarkdown(trees: readonly BlockTree[], indent: string): readonly string[] {
  return trees.flatMap((tree) => {
    if (isTrashed(tree.block)) return [];
    const { own, inner } = blockMarkdown(tree);
    const lines = own.length === 0 ? [] : [...own.map((line) => `${indent}${line}`), ''];
    return [...lines, ...blocksMarkdown(inner, isListItem(tree.block) ? `${indent}  ` : indent)];
  });
}

const listMarks: Readonly<Record<string, string>> = {
  bulleted_list_item: '- ',
  numbered_list_item: '1. ',
  to_do: '- ',
};

function isListItem({ type }: NotionBlock): boolean {
  return Object.hasOwn(listMarks, type);
}

interface BlockLines {
  readonly own: readonly string[];
  /** The blocks inside that are still to be written. */
  readonly inner: readonly BlockTree[];
}

/** Types whose blocks only hold others, or show what is somewhere else. */
const withoutOwnText = new Set(
  `column_list column synced_block tab template child_page child_database
   link_to_page divider breadcrumb table_of_contents`.split(/\s+/),
);
/** Types with a text of their own, and perhaps a caption. */
const withText = new Set(['paragraph', 'toggle', 'bulleted_list_item', 'numbered_list_item']);
const quoted = new Set(['quote', 'callout']);
/** Their addresses expire. */
const files = new Set(['image', 'video', 'pdf', 'file', 'audio']);
const links = new Set(['bookmark', 'embed', 'link_preview']);

function blockMarkdown({ block, children }: BlockTree): BlockLines {
  const { type } = block;
  const content = blockContentSchema.parse(block[type]);
  const text = () => markdownLines(richTextMarkdown(content.rich_text));
  const caption = () => markdownLines(richTextMarkdown(content.caption));
  const level = /^heading_([1-6])$/.exec(type)?.[1];
  if (level !== undefined) {
    const heading = richTextMarkdown(content.rich_text);
    return { own: [markdownHeading(Math.min(6, Number(level) + 1), heading)], inner: children };
  }
  if (withText.has(type)) return { own: withMark(text(), listMarks[type] ?? ''), inner: children };
  if (type === 'to_do')
    return { own: withMark(text(), content.checked ? '- (done) ' : '- (open) '), inner: children };
  if (quoted.has(type)) return { own: text().map((line) => `> ${line}`), inner: children };
  if (type === 'code') {
    const code = content.rich_text.map((part) => part.plain_text).join('');
    return { own: [...markdownCode(code, content.language), ...caption()], inner: [] };
  }
  if (type === 'equation') return { own: markdownCode(content.expression, ''), inner: [] };
  if (type === 'table') return { own: tableMarkdown(children, content), inner: [] };
  if (files.has(type)) return { own: caption(), inner: [] };
  if (links.has(type)) return { own: [...caption(), ...markdownLines(content.url)], inner: [] };
  if (withoutOwnText.has(type)) return { own: [], inner: children };
  return { own: [unreadMark(`Notion block of the type ${type}`)], inner: children };
}

function withMark(lines: readonly string[], mark: string): readonly string[] {
  const rest = ' '.repeat(mark === '' ? 0 : 2);
  return lines.map((line, index) => `${index === 0 ? mark : rest}${line}`);
}

function tableMarkdown(
  rows: readonly BlockTree[],
  { has_column_header: hasHeader }: { readonly has_column_header: boolean },
): readonly string[] {
  const cells = rows.map(({ block }) =>
    blockContentSchema.parse(block['table_row']).cells.map(richTextMarkdown),
  );
  const width = cells.reduce((most, row) => Math.max(most, row.length), 0);
  const [first = [], ...others] = cells;
  const blank = Array.from({ length: width }, () => '');
  return hasHeader ? markdownTable(first, others) : markdownTable(blank, cells);
}

/** The title of a page among its properties. */
export function titleOf(properties: Readonly<Record<string, NotionProperty>>): string {
  const property = Object.values(properties).find(({ type }) => type === 'title');
  return plainText(readRichText(property?.['title']));
}
