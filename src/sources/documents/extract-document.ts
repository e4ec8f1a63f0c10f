import { type ItemNotes, readItemNotes } from '../../context/claims/item-notes.ts';
import { formulaExtractor, type Claim } from '../../context/claims/claim.ts';
import type { NamedDataset, NameIndex } from '../../context/claims/name-index.ts';
import {
  type Extraction,
  type Item,
  itemPath,
  type LeftOutStatement,
  type UnreadText,
} from '../source.ts';
import type { DocumentBlock, ParsedDocument, TableRow } from './document-block.ts';
import { readHtml } from './read-html.ts';
import { readMarkdown } from './read-markdown.ts';
import { readClaimTable, type RowClaim } from './read-table.ts';

export interface DocumentContext {
  readonly connection: string;
  readonly extractor: string;
  readonly names: NameIndex;
}

const tableConfidence = 0.9;
/** Of a row that its owner calls a draft. */
const draftConfidence = 0.6;
const longestQuote = 300;

/**
 * What code reads in a document: tables of terms, metrics, rules and columns become claims, prose
 * waits for a model.
 */
export function extractDocument(item: Item, context: DocumentContext): Extraction {
  const { names } = context;
  const place = { ...context, path: item.path, notes: readItemNotes(item.body) };
  const { blocks, problems } = parseDocument(item);
  const claims: Claim[] = [];
  const unread: UnreadText[] = [];
  const leftOut: LeftOutStatement[] = [];
  for (const { block, title, dataset } of locateBlocks(blocks, names)) {
    if (block.kind === 'table') {
      const table = readClaimTable(block, { names, section: dataset });
      claims.push(...(table?.claims ?? []).map((claim) => claimOf(place, claim)));
      const rows = table?.unread ?? block.rows;
      leftOut.push(
        ...(table?.retired ?? []).map(({ line }) => ({
          location: `line ${line}`,
          what: 'row that its table calls out of use',
        })),
        ...(table?.formulas ?? []).map(({ row, name, reason }) => ({
          location: `line ${row.line}`,
          what: reason,
          name: name.slice(0, longestQuote).toWellFormed(),
        })),
      );
      unread.push(...rows.map(({ cells, line }) => unreadProse(cells.join(' | '), line)));
    } else if (block.kind === 'text' && isProse(block.text)) {
      const text = title === '' ? block.text : `${title}: ${block.text}`;
      unread.push(unreadProse(text, block.line));
    }
  }
  return {
    key: item.key,
    claims,
    mentions: mentionedDatasets(blocks, names),
    unread,
    statements: new Set(claims.flatMap(({ evidence }) => evidence.map(({ location }) => location)))
      .size,
    ...(leftOut.length > 0 && { leftOut }),
    problems: problems.map(({ line, reason }) => ({ location: `line ${line}`, reason })),
  };
}

/** The blocks of a document; its key tells HTML from Markdown. */
export function parseDocument({ key, body }: Pick<Item, 'key' | 'body'>): ParsedDocument {
  return /\.html?$/i.test(key) ? readHtml(body) : readMarkdown(body);
}

interface LocatedBlock {
  readonly block: DocumentBlock;
  /** The nearest heading above; empty without one. */
  readonly title: string;
  /** The dataset that the nearest of the headings above names. */
  readonly dataset: NamedDataset | undefined;
}

function locateBlocks(blocks: readonly DocumentBlock[], names: NameIndex): LocatedBlock[] {
  const headings: {
    readonly level: number;
    readonly text: string;
    readonly dataset: NamedDataset | undefined;
  }[] = [];
  return blocks.map((block) => {
    if (block.kind === 'heading') {
      while ((headings.at(-1)?.level ?? 0) >= block.level) headings.pop();
      const codeName = /`([^`]+)`/.exec(block.text)?.[1];
      const dataset = names.dataset(codeName ?? block.text);
      headings.push({ level: block.level, text: block.text, dataset });
    }
    return {
      block,
      title: headings.at(-1)?.text ?? '',
      dataset: headings.findLast((heading) => heading.dataset !== undefined)?.dataset,
    };
  });
}

interface DocumentPlace extends DocumentContext {
  readonly path: string;
  /** What the front matter of the document says. */
  readonly notes: ItemNotes;
}

function claimOf(
  { connection, extractor, path, notes }: DocumentPlace,
  { subject, kind, body, row, isDraft, isUnreviewed }: RowClaim,
): Claim {
  return {
    subject,
    kind,
    body,
    evidence: [
      {
        connection,
        origin: 'code',
        extractor: isUnreviewed === true ? formulaExtractor : extractor,
        item: itemPath(connection, path),
        location: `line ${row.line}`,
        quote: quoteOf(row),
        confidence: isDraft === true ? draftConfidence : tableConfidence,
        ...notes,
      },
    ],
  };
}

function quoteOf({ cells }: TableRow): string {
  return cells.join(' | ').slice(0, longestQuote).toWellFormed();
}

function unreadProse(text: string, line: number): UnreadText {
  return { what: 'prose', location: `line ${line}`, text };
}

/** Fewer words are a caption or a link, which claims nothing. */
const fewestProseWords = 6;

function isProse(text: string): boolean {
  return text.split(/\s+/).length >= fewestProseWords;
}

/** The datasets that the document names in code marks or headings. */
function mentionedDatasets(blocks: readonly DocumentBlock[], names: NameIndex): string[] {
  const texts = blocks.flatMap((block) =>
    block.kind === 'table' ? block.rows.flatMap(({ cells }) => cells) : [block.text],
  );
  const codeNames = texts.flatMap((text) =>
    [...text.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
  );
  const headings = blocks.flatMap((block) => (block.kind === 'heading' ? [block.text] : []));
  const subjects = [...codeNames, ...headings].flatMap((name) => names.subject(name) ?? []);
  return [...new Set(subjects)].sort();
}
