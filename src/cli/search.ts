import { Option } from '@commander-js/extra-typings';
import { defineCommand } from './command.ts';
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
      .option('--limit <hits>', 'hits at most', positive, 20),
  async run({ args: [words], options }, context) {
    const project = await context.project();
    const { refreshIndex } = await import('../tools/refresh-index.ts');
    const { openState } = await import('../store/state.ts');
    const { search: find } = await import('../search/search.ts');
    const names = Object.keys(project.config.connections);
    const connections = options.connection === undefined ? names : [project.warehouseName(options.connection)];
    const state = openState(project.dir);
    await refreshIndex(project, state);
    const hits = find(state, words.join(' '), { limit: options.limit, kinds: options.kind, connections });
    state.close();
    const rows = hits.map(({ kind, subject, description, file }) => [kind, subject, description ?? '', file ?? '']);
    const nothing = { notes: ['Nothing found; try other words.'], next: ['ktx ingest', 'ktx sl list'] };
    return {
      data: { hits },
      table: { columns: [{ name: 'kind' }, { name: 'subject' }, { name: 'description' }, { name: 'file' }], rows },
      ...(hits.length === 0 ? nothing : {}),
    };
  },
});
