import { defineCommand } from '../../command.ts';
import { parsePositiveInteger } from '../../flags/parse-number.ts';

const defaultConcurrency = 4;

export const workerCommand = defineCommand({
  description:
    'Reads prose for the ingests of this project, as one of any number of workers on any number of machines. Ingests with --queue ' +
    'give it work over the database in serve.state. A worker writes nothing into the project and nothing into git. It ends on ' +
    'SIGTERM or SIGINT; what it was reading then goes to another one.',
  examples: [
    ['ktx worker', 'on each machine that is to help'],
    ['ktx ingest --queue', 'gives the work out, and publishes what comes back'],
  ],
  define: (command) =>
    command.option(
      '--concurrency <number>',
      `units that it reads at a time (default: ${defaultConcurrency})`,
      parsePositiveInteger,
    ),
  async run({ options: { concurrency = defaultConcurrency } }, context) {
    const project = await context.project({ mayAsk: false });
    const [{ workForIngests }, { loopTools }] = await Promise.all([
      import('../../../project/learn/workers/work.ts'),
      import('../../../tools/loop-tools.ts'),
    ]);
    let units = 0;
    await workForIngests(project, {
      concurrency,
      tools: loopTools(project),
      signal: context.signal,
      onReady: (queue) => context.printNote(`Waiting for work (${queue}).`),
      onRead({ unit, step, done, calls, failures }) {
        units += 1;
        context.printEvent({ type: 'unit_read', unit, step, done, calls });
        for (const { message } of failures) context.printNote(message);
      },
      onError: (error) => context.printNote(error instanceof Error ? error.message : String(error)),
    });
    return { data: { units }, text: `Read ${units} units.` };
  },
});
