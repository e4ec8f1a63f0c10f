import { Option } from '@commander-js/extra-typings';
import { formatCount } from '../../../lib/format-count.ts';
import { documentKinds } from '../../../search/documents.ts';
import { defineCommand } from '../../command.ts';
import { positive } from './sql.ts';

export const search = defineCommand({
  description:
    'Finds metrics, datasets, fields, segments, joins, terms, rules, and tables that are not modelled; words may be misspelt or cut short.',
  examples: [
    ['ktx search revenue by region', 'best first'],
    ['ktx search customer --kind field', 'only fields'],
    ['ktx search Germany', 'the fields that have this value, too'],
  ],
  rows: true,
  define: (command) =>
    command
      .argument('<words...>', 'what to look for')
      .addOption(new Option('--kind <kinds...>', 'only these').choices(documentKinds))
      .option('--connection <name>', 'only this one')
      .option('--limit <hits>', 'hits at most, up to 200', positive, 20),
  async run({ args: [words], options: { connection, kind, limit } }, context) {
    const project = await context.project();
    const { searchProject } = await import('../../../project/answer/search.ts');
    const found = await searchProject(project, words.join(' '), {
      limit: limit + 1,
      kinds: kind,
      connection,
    });
    const hits = found.slice(0, limit);
    const truncated = found.length >= Math.min(limit + 1, 200);
    const cutOff = truncated
      ? [
          `Cut off at ${formatCount(hits.length, 'hit')}: there may be more. Raise --limit, or say more.`,
        ]
      : [];
    const rows = hits.map(({ subject, detail, description, contested, stale, value }) => {
      const marks = [contested === true ? 'contested' : [], stale === true ? 'stale' : []].flat();
      const held = value === undefined ? [] : [`has ${JSON.stringify(value)}`];
      return [subject, [detail ?? [], held, marks].flat().join(', '), description ?? ''];
    });
    const isEmpty = hits.length === 0;
    return {
      data: { hits, truncated },
      table: { columns: ['subject', 'detail', 'description'].map((name) => ({ name })), rows },
      notes: isEmpty ? ['Nothing found; try other words.'] : cutOff,
      next: isEmpty
        ? ['ktx ingest', 'ktx sl list']
        : ['ktx explain "<subject>"  where it comes from'],
    };
  },
});
