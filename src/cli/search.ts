import { Option } from '@commander-js/extra-typings';
import { defineCommand } from './command.ts';
import { counted } from './output.ts';
import { positive } from './sql.ts';
import { documentKinds } from '../search/documents.ts';

export const search = defineCommand({
  description: 'Finds metrics, datasets, fields, segments, joins, and tables that are not modelled; words may be misspelt or cut short.',
  examples: [
    ['ktx search revenue by region', 'best first'],
    ['ktx search customer --kind field', 'only fields'],
  ],
  rows: true,
  define: (command) =>
    command
      .argument('<words...>', 'what to look for')
      .addOption(new Option('--kind <kinds...>', 'only these').choices(documentKinds))
      .option('--connection <name>', 'only this one')
      .option('--limit <hits>', 'hits at most, up to 200', positive, 20),
  async run({ args: [words], options }, context) {
    const project = await context.project();
    const { refreshIndex } = await import('../tools/refresh-index.ts');
    const { openState } = await import('../store/state.ts');
    const { search: find } = await import('../search/search.ts');
    const names = Object.keys(project.config.connections);
    const connections = options.connection === undefined ? names : [project.warehouseName(options.connection)];
    const state = openState(project.dir);
    await refreshIndex(project, state);
    const found = find(state, words.join(' '), { limit: options.limit + 1, kinds: options.kind, connections });
    state.close();
    const hits = found.slice(0, options.limit);
    const truncated = found.length >= Math.min(options.limit + 1, 200);
    const cutOff = truncated ? [`Cut off at ${counted(hits.length, 'hit')}: there may be more. Raise --limit, or say more.`] : [];
    const rows = hits.map(({ kind, subject, description, file }) => [kind, subject, description ?? '', file ?? '']);
    const isEmpty = hits.length === 0;
    return {
      data: { hits, truncated },
      table: { columns: ['kind', 'subject', 'description', 'file'].map((name) => ({ name })), rows },
      notes: isEmpty ? ['Nothing found; try other words.'] : cutOff,
      next: isEmpty ? ['ktx ingest', 'ktx sl list'] : [],
    };
  },
});
