import type { Claim } from '../../context/claims/claim.ts';
import {
  type Extraction,
  type ExtractContext,
  type Item,
  itemPath,
  type Source,
  type Unread,
} from '../source.ts';
import type { Block, Row } from './block.ts';
import type { DocsConfig } from './config.ts';
import { fetchDocuments, isIncluded } from './fetch.ts';
import { htmlBlocks } from './html.ts';
import { markdownBlocks } from './markdown.ts';
import { indexNames, type NamedDataset, type NameIndex } from '../../context/claims/name-index.ts';
import { readTable, type TableContext } from './tables.ts';

const extractor = 'docs@1';

/** A folder of documents. Code reads its tables of terms, metrics, rules and columns; prose is for a model. */
export const docs: Source<DocsConfig> = {
  extractor,
  fetch: fetchDocuments,
  covers: (key, { include }) => isIncluded(key, include),
  extract(items, { connection, catalogs }: ExtractContext<DocsConfig>) {
    const names = indexNames(catalogs.values());
    return items.map((item) => readDocument(item, connection, names));
  },
};

function readDocument(item: Item, connection: string, names: NameIndex): Extraction {
  const blocks = /\.html?$/i.test(item.key) ? htmlBlocks(item.body) : markdownBlocks(item.body);
  const claim = (
    row: Row,
    [subject, kind, body]: readonly [string, Claim['kind'], Claim['body']],
  ): Claim => {
    const quote = row.cells.join(' | ').slice(0, 300).toWellFormed();
    const place = { item: itemPath(connection, item.path), location: `line ${row.line}`, quote };
    return {
      subject,
      kind,
      body,
      evidence: [{ connection, origin: 'code', extractor, ...place, confidence: 0.9 }],
    };
  };
  const claims: Claim[] = [];
  const unread: Unread[] = [];
  const sections = sectionsOf(blocks, names);
  for (const { dataset, block, title } of sections) {
    const context: TableContext = {
      names,
      section: dataset,
      claim: (about, row) => claim(row, about),
    };
    const reading = block.kind === 'table' ? readTable(block, context) : undefined;
    claims.push(...(reading?.claims ?? []));
    const rows = reading?.unread ?? (block.kind === 'table' ? block.rows : []);
    unread.push(
      ...rows.map(
        ({ cells, line }) =>
          ({ what: 'prose', location: `line ${line}`, text: cells.join(' | ') }) as const,
      ),
    );
    if (block.kind === 'text' && isProse(block.text)) {
      unread.push({
        what: 'prose',
        location: `line ${block.line}`,
        text: title === '' ? block.text : `${title}: ${block.text}`,
      });
    }
  }
  return { key: item.key, claims, mentions: mentionsIn(blocks, names), unread };
}

/** Each block with the nearest heading, and the dataset that one of the headings above it names. */
function sectionsOf(blocks: readonly Block[], names: NameIndex) {
  const path: {
    readonly level: number;
    readonly text: string;
    readonly dataset: NamedDataset | undefined;
  }[] = [];
  return blocks.map((block) => {
    if (block.kind === 'heading') {
      while ((path.at(-1)?.level ?? 0) >= block.level) path.pop();
      const said = /`([^`]+)`/.exec(block.text)?.[1] ?? block.text;
      path.push({ level: block.level, text: block.text, dataset: names.dataset(said) });
    }
    return {
      block,
      title: path.at(-1)?.text ?? '',
      dataset: path.findLast(({ dataset }) => dataset !== undefined)?.dataset,
    };
  });
}

/** A few words are a caption or a link, and say nothing that a model could claim. */
function isProse(text: string): boolean {
  return text.split(/\s+/).length >= 6;
}

/** Datasets that the document names in code marks or headings. */
function mentionsIn(blocks: readonly Block[], names: NameIndex): string[] {
  const texts = blocks.flatMap((block) =>
    block.kind === 'table' ? block.rows.flatMap(({ cells }) => cells) : [block.text],
  );
  const spelled = texts.flatMap((text) =>
    [...text.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
  );
  const headings = blocks.flatMap((block) => (block.kind === 'heading' ? [block.text] : []));
  return [
    ...new Set([...spelled, ...headings].flatMap((name) => names.subject(name) ?? [])),
  ].sort();
}
