import { z } from 'zod';
import { formatCount } from '../lib/format-count.ts';
import { readCommitState } from '../project/open/commit-state.ts';
import { documentKinds } from '../search/documents.ts';
import type { SearchHit } from '../search/search.ts';
import type { ToolDefinition } from './tool.ts';

const inputSchema = z.strictObject({
  text: z.string(),
  kinds: z.array(z.enum(documentKinds)).optional(),
  connection: z.string().optional(),
  limit: z.int().min(1).max(200).default(20),
});

export const searchContext: ToolDefinition<typeof inputSchema> = {
  name: 'search_context',
  description:
    'Searches metrics, saved queries, verified questions, datasets, fields, joins, terms, prose. Start here; ' +
    'other tools take its names.',
  effect: 'context',
  inputSchema,
  itemsName: 'hits',
  async run({ text, ...options }, { project, signal, isReviewedOnly }) {
    const { searchProject } = await import('../project/answer/search.ts');
    const { hits: found, lexical } = await searchProject(project, text, { ...options, signal });
    const hits = isReviewedOnly ? found.filter((hit) => !isUnreviewed(hit)) : found;
    const contested = hits.filter((hit) => hit.contested === true).map(({ subject }) => subject);
    const stale = hits.filter((hit) => hit.stale === true).map(({ subject }) => subject);
    const items = hits.map((hit) => ({
      ...hit,
      name: callableName(hit),
      trust: hit.file === undefined || isUnreviewed(hit) ? 'ad_hoc' : 'curated',
      context: undefined,
    }));
    const files = [...new Set(hits.flatMap(({ file }) => file ?? []))].sort();
    return {
      summary: [
        hits.length === 0
          ? 'Nothing found. Try other words.'
          : `${formatCount(hits.length, 'hit')}, best first.`,
        ...(lexical === undefined ? [] : [`Found by words only: ${lexical}.`]),
      ].join(' '),
      trust: {
        status: files.length > 0 ? 'curated' : 'ad_hoc',
        ...(contested.length === 0 ? {} : { contested }),
        ...(stale.length === 0 ? {} : { stale }),
        ...(await readCommitState(project.dir, files)),
      },
      items,
      values: (shown) =>
        items
          .filter((hit) => hit.value !== undefined && shown.includes(hit))
          .map(({ connection, parent, subject }) => ({
            connection,
            source: parent,
            column: subject.split('.').at(-1) ?? '',
            kind: 'match',
            count: 1,
          })),
      withheld: items.map((hit) => ({ ...hit, value: undefined })),
    };
  },
};

function isUnreviewed({ kind, detail = '' }: SearchHit): boolean {
  return kind === 'metric' && detail.split(', ').includes('unreviewed');
}

/** The name that the other tools take. */
function callableName({ kind, connection, subject, parent, name }: SearchHit): string {
  if (kind === 'dataset' || kind === 'table') return parent;
  if (connection === 'wiki' || kind === 'query' || kind === 'question') return subject;
  return `${parent}.${name}`.replace(/^\./, '');
}
