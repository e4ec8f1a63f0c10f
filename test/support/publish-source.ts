/**
 * One ingest of a source behind an API in a process of its own: `node publish-source.ts <dir>
 * <configuration as JSON> [<publish step to die at, counted from 1>]`, with the secret in `TOKEN`.
 * Prints how many steps there were.
 */
import { z } from 'zod';
import { sourceConfigSchemas } from '../../src/sources/config.ts';
import { openSource } from '../../src/sources/registry.ts';
import { ingestHere } from '../ingest/ingest-project.ts';

const [dir = '', config = '', dieAt = ''] = process.argv.slice(2);
const source = z.union(sourceConfigSchemas).parse(JSON.parse(config));
let steps = 0;
const { exitCode } = await ingestHere(dir, {
  names: [],
  otherWarehouses: ['shop'],
  sources: [
    {
      name: 'far',
      open: () => openSource(source),
      secrets: () => process.env['TOKEN'] ?? '',
      isAsked: true,
    },
  ],
  onEvent: ({ type }) => {
    if (type !== 'publish_step') return;
    steps += 1;
    if (steps === Number(dieAt)) process.kill(process.pid, 'SIGKILL');
  },
});
process.exitCode = exitCode;
console.log(steps);
