import { indexNames } from '../../context/claims/name-index.ts';
import { extractDocument } from '../documents/extract-document.ts';
import type { ExtractContext, Source } from '../source.ts';
import type { DocsConfig } from './config.ts';
import { fetchDocuments, isIncluded } from './fetch.ts';

const extractor = 'docs@1';

/**
 * A folder of documents. Code reads tables of terms, metrics, rules and columns; a model reads the
 * prose.
 */
export const docs: Source<DocsConfig> = {
  extractor,
  fetch: fetchDocuments,
  covers: (key, { include }) => isIncluded(key, include),
  extract(items, { connection, catalogs }: ExtractContext<DocsConfig>) {
    const names = indexNames(catalogs.values());
    return items.map((item) => extractDocument(item, { connection, extractor, names }));
  },
};
