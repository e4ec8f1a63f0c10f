import { markdownInlineCode } from '../documents/markdown-text.ts';
import type { RichText } from './api-schemas.ts';

/** Rich text as Markdown: code keeps its marks, names of people are left out. */
export function richTextMarkdown(parts: RichText): string {
  return parts.map(partMarkdown).join('');
}

/** Rich text as one plain line, for titles. */
export function plainText(parts: RichText): string {
  return parts
    .map((part) => partMarkdown({ ...part, annotations: undefined }))
    .join('')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

function partMarkdown(part: RichText[number]): string {
  const { type, plain_text: text, annotations, mention, equation } = part;
  if (type === 'mention' && mention !== undefined) return mentionMarkdown(mention, text);
  if (type === 'equation') return markdownInlineCode(equation?.expression ?? text);
  return annotations?.code === true ? markdownInlineCode(text) : text;
}

function mentionMarkdown(
  { type, date }: NonNullable<RichText[number]['mention']>,
  text: string,
): string {
  if (type === 'user') return '@person';
  // The text of a date can be relative: `today`.
  if (type === 'date' && date) return [date.start, date.end].filter(Boolean).join(' to ');
  return text;
}
