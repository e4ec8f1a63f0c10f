import { formatCount } from '../../../lib/format-count.ts';
import { UserError } from '../../../lib/error.ts';
import { defineCommand } from '../../command.ts';
import { escapeControls } from '../../terminal/text-width.ts';
import { unusedFactLines } from './open-work-text.ts';

export const checkCommand = defineCommand({
  description:
    'Fails if a file is invalid, if sources contradict each other and nobody has decided, if rows contradict a declared key, or if a ' +
    'source has changed since it was ingested. Prints the smallest fix for each finding. For CI: calls no model, changes no file, ' +
    'and connects to no server without --data.',
  examples: [
    ['ktx check', 'exits with 1 if there are findings'],
    ['ktx check --data', 'also counts on servers whether the declared keys hold'],
  ],
  define: (command) =>
    command.option('--data', 'count keys on servers too; database files are always read'),
  async run({ options }, context) {
    const project = await context.project();
    const { checkProject } = await import('../../../project/review/check.ts');
    context.progress.update('reading the sources');
    const isAskingServers = options.data === true;
    const { findings, unfit, uncounted, deferred } = await checkProject(
      project,
      { isAskingServers },
      context.signal,
    );
    const lines = findings.flatMap(({ what, where, found, fix }) => [
      `${context.screen.style('yellow', what.padEnd(12))} ${escapeControls(where)}: ${escapeControls(found)}`,
      `             fix: ${escapeControls(fix)}`,
    ]);
    const failure = new UserError('check_found', `${formatCount(findings.length, 'finding')}.`, {
      hint: findings[0]?.fix,
    });
    const sound = `Nothing ${deferred.length === 0 ? '' : 'else '}stale, contested or invalid.`;
    const text = findings.length === 0 ? sound : lines.join('\n');
    return {
      data: { findings, unfit, uncounted, deferred },
      text: [text, ...unusedFactLines(unfit)].join('\n'),
      notes: [
        ...uncounted.map(
          ({ connection, reason }) => `keys of ${connection} were not counted: ${reason}`,
        ),
        ...deferred.map(({ subject, until }) =>
          escapeControls(`put off: ${subject}${until === undefined ? '' : ` until ${until}`}`),
        ),
      ],
      hasCommands: true,
      failure: findings.length === 0 ? undefined : failure,
    };
  },
});
