import { indexNames } from '../../context/claims/name-index.ts';
import { extractWikiPage } from '../documents/extract-wiki-page.ts';
import type { ExtractContext, Source } from '../source.ts';
import type { NotionConfig } from './config.ts';
import { fetchNotion, lookAtNotion, parseKey } from './fetch.ts';
import { notionAddress } from './notion-id.ts';

const extractor = 'notion@1';

/**
 * Pages and databases of Notion, as Markdown. Code reads tables and databases of terms, metrics,
 * rules and columns; a model reads the prose.
 */
export const notion: Source<NotionConfig> = {
  extractor,
  fetch: fetchNotion,
  look: lookAtNotion,
  address: (key) => {
    const { id } = parseKey(key) ?? {};
    return id === undefined ? undefined : notionAddress(id);
  },
  extract(items, { connection, catalogs }: ExtractContext<NotionConfig>) {
    const names = indexNames(catalogs.values());
    return items.map((item) => extractWikiPage(item, { connection, extractor, names }));
  },
};
