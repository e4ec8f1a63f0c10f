import type { NameIndex } from '../../context/claims/name-index.ts';
import type { SearchDocument } from '../../search/documents.ts';
import type { DocumentBlock } from '../../sources/documents/document-block.ts';
import { parseDocument } from '../../sources/documents/extract-document.ts';

/** A run of text of a document or a note, as people wrote it. */
interface Passage {
  readonly title: string;
  /** From 1. */
  readonly line: number;
  readonly text: string;
}

/** In characters: a few paragraphs. */
const longestPassage = 1200;
const shownText = 400;

/** The passages of one page. */
export function buildPassages({ path, key, body }: ProsePage, names: NameIndex): SearchDocument[] {
  return splitPassages(parseDocument({ key, body }).blocks).map((passage) =>
    passageDocument(passage, path, names),
  );
}

/** A document or a note. */
export interface ProsePage {
  /** In the project. */
  readonly path: string;
  readonly key: string;
  readonly body: string;
}

function splitPassages(blocks: readonly DocumentBlock[]): readonly Passage[] {
  const passages: Passage[] = [];
  const headings: { readonly level: number; readonly text: string }[] = [];
  let open: { line: number; texts: string[] } | undefined;
  const close = () => {
    const text = open?.texts.join('\n') ?? '';
    const title = headings.map((heading) => heading.text).join(' › ');
    if (open !== undefined && text !== '') passages.push({ title, line: open.line, text });
    open = undefined;
  };
  for (const block of blocks) {
    if (block.kind === 'heading') {
      close();
      while ((headings.at(-1)?.level ?? 0) >= block.level) headings.pop();
      headings.push(block);
      continue;
    }
    const text = textOf(block);
    const length = open?.texts.reduce((sum, one) => sum + one.length, 0) ?? 0;
    if (length + text.length > longestPassage) close();
    open ??= { line: block.line, texts: [] };
    open.texts.push(text);
  }
  close();
  return passages;
}

function textOf(block: Exclude<DocumentBlock, { readonly kind: 'heading' }>): string {
  if (block.kind === 'text') return block.text;
  return [block.header, ...block.rows.map(({ cells }) => cells)]
    .map((cells) => cells.join(' | '))
    .join('\n');
}

function passageDocument(
  { title, line, text }: Passage,
  path: string,
  names: NameIndex,
): SearchDocument {
  const place = `${path}:${line}`;
  const plain = text.replaceAll(/\s+/g, ' ').trim();
  const refs = mentionedSubjects(`${title}\n${text}`, names);
  return {
    kind: 'passage',
    connection: 'wiki',
    subject: `passage:${place}`,
    name: title === '' ? path : title,
    parent: path,
    description: plain.length > shownText ? `${plain.slice(0, shownText)}…` : plain,
    members: [plain],
    detail: place,
    ...(refs.length > 0 && { refs }),
  };
}

/** Subjects that the text names in code, or by a name that no word of a language looks like. */
function mentionedSubjects(text: string, names: NameIndex): readonly string[] {
  const inCode = [...text.matchAll(/`([^`\n]{1,200})`/g)].map(([, name = '']) => name);
  const identifiers = text.match(/\b\w+_\w+(?:\.\w+)?\b/g) ?? [];
  const subjects = [...new Set([...inCode, ...identifiers])].flatMap(
    (name) => names.subject(name) ?? [],
  );
  return [...new Set(subjects)].slice(0, 20);
}
