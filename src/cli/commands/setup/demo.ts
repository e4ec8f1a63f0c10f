import { resolve } from 'node:path';
import { Option } from '@commander-js/extra-typings';
import { backends, takesAuthMode } from '../../../llm/backends.ts';
import { defineCommand } from '../../command.ts';

export const demo = defineCommand({
  description:
    'Makes a project on a sample company whose database declares no keys, with a dbt project and a handbook that disagree about one ' +
    'metric, and shows the way from there to an answer. Needs no account and no network; with --llm it goes on to read the prose. ' +
    'A demo that stands is continued, and says what changed.',
  examples: [
    ['ktx demo', 'in the folder ktx-demo'],
    [
      'ktx demo --llm claude-code',
      'the same, then your own local Claude Code session reads what only a model can',
    ],
    ['ktx demo --dir /tmp/shop --json', 'elsewhere; everything that it found as JSON'],
  ],
  define: (command) =>
    command
      .option('--dir <folder>', 'where the demo lives', 'ktx-demo')
      .addOption(
        new Option(
          '--llm <backend>',
          'who reads the prose; claude-code needs nothing else',
        ).choices(backends.filter((name) => name !== 'none' && !takesAuthMode(name))),
      ),
  async run({ options: { dir, llm } }, context) {
    const { runDemo } = await import('../../demo/tour.ts');
    return runDemo({ dir: resolve(context.surroundings.cwd, dir), llm }, context);
  },
});
