/**
 * One ingest in a process of its own: `node ingest-child.ts <dir> [<publish step to die at, counted
 * from 1>]`. Prints `{steps, report}` as JSON, or `{steps, error}`; dies by SIGKILL at the step
 * that it was told.
 */
import { ingestHere } from './ingest-project.ts';

const [dir = '', dieAt = ''] = process.argv.slice(2);
const steps: string[] = [];
try {
  const report = await ingestHere(dir, {
    onEvent: (event) => {
      if (event.type === 'lock_awaited') steps.push('lock_awaited');
      if (event.type !== 'publish_step') return;
      steps.push(`${event.step} ${event.path ?? ''}`.trim());
      if (steps.length === Number(dieAt)) process.kill(process.pid, 'SIGKILL');
    },
  });
  console.log(JSON.stringify({ steps, report }));
} catch (error) {
  console.log(JSON.stringify({ steps, error: error instanceof Error ? error.stack : error }));
}
