import { formatCount } from '../../../lib/format-count.ts';
import { UserError } from '../../../lib/error.ts';
import { defineCommand } from '../../command.ts';
import { unfitLines } from './ingest.ts';
import { printable } from '../../terminal/text-width.ts';

export const check = defineCommand({
  description:
    'For CI: fails where files are invalid, where sources disagree and nobody has decided, or where a source says something else ' +
    'than when it was ingested; each with the smallest fix. Asks no warehouse and no model, writes nothing.',
  examples: [['ktx check', 'exit code 1 where something is found']],
  define: (command) => command,
  async run(_input, context) {
    const project = await context.project();
    const { checkProject } = await import('../../../project/review/check.ts');
    context.progress.update('reading the sources');
    const { findings, unfit } = await checkProject(project, context.signal);
    const lines = findings.flatMap(({ what, where, found, fix }) => [
      `${context.screen.style('yellow', what.padEnd(9))} ${printable(where)}: ${printable(found)}`,
      `          fix: ${printable(fix)}`,
    ]);
    const failure = new UserError('check_found', `${formatCount(findings.length, 'finding')}.`, {
      hint: findings[0]?.fix,
    });
    const text = findings.length === 0 ? 'Nothing stale, contested or invalid.' : lines.join('\n');
    return {
      data: { findings, unfit },
      text: [text, ...unfitLines(unfit)].join('\n'),
      tells: true,
      failure: findings.length === 0 ? undefined : failure,
    };
  },
});
