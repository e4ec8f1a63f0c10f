import { resolve } from 'node:path';
import { defineCommand } from './command.ts';

export const demo = defineCommand({
  description:
    'Makes a project on a sample company whose database declares no keys, and shows the way from there to an answer: ' +
    'scan, ingest, a metric written by hand, a question, and what naive SQL would have said. Needs no account and no network. ' +
    'A demo that stands is continued, and says what changed.',
  examples: [
    ['ktx demo', 'in the folder ktx-demo'],
    ['ktx demo --dir /tmp/shop --json', 'elsewhere; everything that it found as JSON'],
  ],
  define: (command) => command.option('--dir <folder>', 'where the demo lives', 'ktx-demo'),
  async run({ options }, context) {
    const { runDemo } = await import('./demo/tour.ts');
    return runDemo(resolve(context.surroundings.cwd, options.dir), context);
  },
});
