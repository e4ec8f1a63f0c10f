import { indexNames } from '../../context/claims/name-index.ts';
import { extractWikiPage } from '../documents/extract-wiki-page.ts';
import type { ExtractContext, Source } from '../source.ts';
import type { ConfluenceConfig } from './config.ts';
import { fetchConfluence, lookAtConfluence } from './fetch.ts';

const extractor = 'confluence@1';

/**
 * Pages of Confluence, in the cloud or on a server of one's own, as Markdown. Code reads tables of
 * terms, metrics, rules and columns; a model reads the prose.
 */
export const confluence: Source<ConfluenceConfig> = {
  extractor,
  fetch: fetchConfluence,
  look: lookAtConfluence,
  address: (key, { base_url: base }) => {
    const id = /^pages\/(\d+)\.md$/.exec(key)?.[1];
    const url = `${base.replace(/\/+$/, '')}/pages/viewpage.action?pageId=${id}`;
    return id === undefined ? undefined : url;
  },
  extract(items, { connection, catalogs }: ExtractContext<ConfluenceConfig>) {
    const names = indexNames(catalogs.values());
    return items.map((item) => extractWikiPage(item, { connection, extractor, names }));
  },
};
