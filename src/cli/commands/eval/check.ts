import type { GoldenCheck } from '../../../eval/cases/golden-sql.ts';
import { UserError } from '../../../lib/error.ts';
import { formatCount } from '../../../lib/format-count.ts';
import { defineCommand } from '../../command.ts';
import type { Screen } from '../../terminal/screen.ts';
import { escapeControls } from '../../terminal/text-width.ts';

export const checkCommand = defineCommand({
  description:
    'Reads the question sets and runs their golden SQL, without a model and without cost. Run it in CI and after each change of the ' +
    'warehouse. Fails if golden SQL cannot be run; warns if it proves little.',
  examples: [
    ['ktx eval check', 'all question sets in evals/'],
    ['ktx eval check revenue', 'evals/revenue.yaml'],
  ],
  define: (command) => command.argument('[sets...]', 'names of question sets (default: all)'),
  async run({ args: [names] }, context) {
    const project = await context.project();
    const [{ loadQuestionSets }, { checkGolden }] = await Promise.all([
      import('../../../eval/cases/question-set.ts'),
      import('../../../eval/cases/golden-sql.ts'),
    ]);
    const sets = await loadQuestionSets(project.dir, { sets: names });
    const onCase = (id: string): void => context.progress.update(id);
    const checks = await checkGolden(project, sets, { signal: context.signal, onCase });
    const cases = sets.flatMap((set) => set.cases);
    const failed = checks.filter(({ failure }) => failure !== undefined);
    const summary = [
      `${formatCount(cases.length, 'case')} in ${formatCount(sets.length, 'question set')}`,
      `${checks.length - failed.length} of ${formatCount(checks.length, 'golden statement')} ran`,
    ];
    return {
      data: {
        cases: cases.map(({ id, turns, tags, skip }) => ({ id, turns: turns.length, tags, skip })),
        golden: checks.map(({ failure, ...check }) => ({
          ...check,
          error: failure && { code: failure.code, message: failure.message },
        })),
      },
      text: [
        ...checks.map((check) => checkLine(check, context.screen)),
        `${summary.join('; ')}.`,
      ].join('\n'),
      failure: failed.length === 0 ? undefined : goldenError(failed),
    };
  },
});

function checkLine(check: GoldenCheck, { style }: Screen): string {
  const { id, turn, rows, columns, failure, warning } = check;
  const name = turn === 1 ? id : `${id} (turn ${turn})`;
  if (failure !== undefined)
    return `${style('red', 'error')}  ${name}: ${escapeControls(failure.message)}`;
  const result = `${formatCount(rows, 'row')} of ${columns.map(escapeControls).join(', ')}`;
  return warning === undefined
    ? `${style('green', 'ok')}     ${name}: ${result}`
    : `${style('yellow', 'weak')}   ${name}: ${result}; ${warning}`;
}

function goldenError(failed: readonly GoldenCheck[]): UserError {
  const [first] = failed;
  const message = `The golden SQL of ${formatCount(failed.length, 'case')} cannot be run.`;
  const hint = first?.failure?.hint ?? `correct the golden SQL of ${first?.id}`;
  return new UserError('golden_failed', message, { hint });
}
