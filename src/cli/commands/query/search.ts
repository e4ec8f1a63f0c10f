import { Option } from '@commander-js/extra-typings';
import { formatCount } from '../../../lib/format-count.ts';
import { documentKinds } from '../../../search/documents.ts';
import { defineCommand } from '../../command.ts';
import { parsePositiveInteger } from '../../flags/parse-number.ts';

/** The search never returns more hits. */
const maxHits = 200;

export const searchCommand = defineCommand({
  description:
    'Searches metrics, saved queries, verified questions, datasets, fields, segments, joins, terms, rules, the ' +
    'prose of documents and notes, and tables without a dataset. Typos, partial words and ' +
    'words of the same stem are fine.',
  examples: [
    ['ktx search revenue by region', 'the best hits first'],
    ['ktx search customer --kind field', 'only fields'],
    ['ktx search Germany', 'also finds fields that contain this value'],
  ],
  hasRows: true,
  define: (command) =>
    command
      .argument('<words...>', 'what to search for')
      .addOption(new Option('--kind <kinds...>', 'only these kinds').choices(documentKinds))
      .option('--connection <name>', 'only this connection')
      .option(
        '--limit <hits>',
        `maximum number of hits, up to ${maxHits}`,
        parsePositiveInteger,
        20,
      )
      .option('--no-embeddings', 'compare words only, and send nothing to the embedding model'),
  async run({ args: [words], options: { connection, kind, limit, embeddings } }, context) {
    const project = await context.project();
    const { searchProject } = await import('../../../project/answer/search.ts');
    const { hits: found, lexical } = await searchProject(project, words.join(' '), {
      limit: limit + 1,
      kinds: kind,
      connection,
      embeddings,
      signal: context.signal,
    });
    const hits = found.slice(0, limit);
    const lexicalNotes = lexical === undefined ? [] : [`Found by words only: ${lexical}.`];
    const truncated = found.length >= Math.min(limit + 1, maxHits);
    const truncationNotes = truncated
      ? [
          `Only the first ${formatCount(hits.length, 'hit')}; there may be more. Raise --limit or add words.`,
        ]
      : [];
    const rows = hits.map(({ subject, detail, description, contested, stale, value, verified }) => {
      const details = [
        detail ?? [],
        value === undefined ? [] : `has ${JSON.stringify(value)}`,
        contested === true ? 'contested' : [],
        stale === true ? 'stale' : [],
        verified === undefined ? [] : `verified ${verified.at.slice(0, 10)} by ${verified.run}`,
      ];
      return [subject, details.flat().join(', '), description ?? ''];
    });
    const isEmpty = hits.length === 0;
    return {
      data: { hits, truncated, ...(lexical !== undefined && { lexical }) },
      // Without hits, the note says everything: no header without rows.
      table:
        isEmpty && context.screen.format === 'table'
          ? undefined
          : { columns: ['subject', 'detail', 'description'].map((name) => ({ name })), rows },
      notes: [
        ...(isEmpty ? ['Nothing found. Try other words.'] : truncationNotes),
        ...lexicalNotes,
      ],
      next: isEmpty
        ? [['ktx ingest'], ['ktx sl list']]
        : [['ktx explain "<subject>"', 'shows where it comes from']],
    };
  },
});
