import { resolve } from 'node:path';
import { Option } from '@commander-js/extra-typings';
import { backends, suggestedBackend, takesAuthMode } from '../../../llm/backends.ts';
import { defineCommand } from '../../command.ts';

export const demoCommand = defineCommand({
  description:
    'Creates a project for a sample company and shows what ktx makes of it: the database declares no keys, and a dbt project and a ' +
    'handbook disagree about one metric. Needs no account and no network; --llm also lets a model read the prose. Run it again to ' +
    'continue; it then shows what changed.',
  examples: [
    ['ktx demo', 'creates it in the folder ktx-demo'],
    ['ktx demo --tour', 'shows each step, the SQL and the receipt'],
    [
      `ktx demo --llm ${suggestedBackend}`,
      'your own local Claude Code session also reads the prose',
    ],
    ['ktx demo --dir /tmp/shop --json', 'in another folder; prints everything as JSON'],
  ],
  define: (command) =>
    command
      .option('--dir <folder>', 'folder of the demo', 'ktx-demo')
      .option('--tour', 'show each step and everything that comes out of it')
      .addOption(
        new Option(
          '--llm <backend>',
          `backend that reads the prose; ${suggestedBackend} needs no setup`,
        ).choices(backends.filter((name) => name !== 'none' && !takesAuthMode(name))),
      ),
  async run({ options: { dir, llm, tour = false } }, context) {
    const { runDemo } = await import('../../demo/tour.ts');
    return runDemo({ dir: resolve(context.host.cwd, dir), llm, tour }, context);
  },
});
