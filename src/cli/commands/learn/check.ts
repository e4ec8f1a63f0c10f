import { formatCount } from '../../../lib/format-count.ts';
import { UserError } from '../../../lib/error.ts';
import { defineCommand } from '../../command.ts';
import { escapeControls } from '../../terminal/text-width.ts';
import { unusedFactLines } from './open-work-text.ts';

export const checkCommand = defineCommand({
  description:
    'Fails if a file is invalid, if sources contradict each other and nobody has decided, or if a source has changed since it was ' +
    'ingested. Prints the smallest fix for each finding. For CI: queries no warehouse, calls no model, writes nothing.',
  examples: [['ktx check', 'exits with 1 if there are findings']],
  define: (command) => command,
  async run(_input, context) {
    const project = await context.project();
    const { checkProject } = await import('../../../project/review/check.ts');
    context.progress.update('reading the sources');
    const { findings, unfit } = await checkProject(project, context.signal);
    const lines = findings.flatMap(({ what, where, found, fix }) => [
      `${context.screen.style('yellow', what.padEnd(9))} ${escapeControls(where)}: ${escapeControls(found)}`,
      `          fix: ${escapeControls(fix)}`,
    ]);
    const failure = new UserError('check_found', `${formatCount(findings.length, 'finding')}.`, {
      hint: findings[0]?.fix,
    });
    const text = findings.length === 0 ? 'Nothing stale, contested or invalid.' : lines.join('\n');
    return {
      data: { findings, unfit },
      text: [text, ...unusedFactLines(unfit)].join('\n'),
      hasCommands: true,
      failure: findings.length === 0 ? undefined : failure,
    };
  },
});
