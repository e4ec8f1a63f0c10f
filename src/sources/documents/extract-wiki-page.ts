import type { Extraction, Item } from '../source.ts';
import { type DocumentContext, extractDocument } from './extract-document.ts';
import { listUnreadMarks } from './markdown-text.ts';

/** What code reads in a page of a wiki, with the parts that the fetch marked as not read. */
export function extractWikiPage(item: Item, context: DocumentContext): Extraction {
  const extraction = extractDocument(item, context);
  const marks = listUnreadMarks(item.body);
  const unread = marks.map(({ line, kind }) => ({ location: `line ${line}`, what: kind }));
  return { ...extraction, leftOut: [...(extraction.leftOut ?? []), ...unread] };
}
