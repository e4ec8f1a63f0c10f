import { savedQuerySubject } from '../../context/claims/saved-query-claims.ts';
import type { SearchDocument } from '../../search/documents.ts';
import type { SavedQuery } from './saved-queries.ts';

/** What the search finds a saved query by: its words, and the names that it uses. */
export function buildSavedQueryDocument(saved: SavedQuery): SearchDocument {
  const { connection, name, file, description, synonyms, owner, query } = saved;
  const metrics = query.metrics.map((metric) =>
    typeof metric === 'string' ? metric : `${metric.name} = ${metric.expr}`,
  );
  const used = [...metrics, ...query.dimensions];
  return {
    kind: 'query',
    connection,
    subject: savedQuerySubject(saved),
    name,
    parent: '',
    synonyms,
    description,
    context: [...used, ...(owner === undefined ? [] : [owner])],
    file,
    detail: `saved query of ${used.join(', ')}`,
  };
}
