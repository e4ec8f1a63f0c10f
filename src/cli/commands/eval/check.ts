import { formatCount } from '../../../lib/format-count.ts';
import { UserError } from '../../../lib/error.ts';
import { defineCommand } from '../../command.ts';
import { escapeControls } from '../../terminal/text-width.ts';

export const checkCommand = defineCommand({
  description:
    'Reads every question set and runs its golden SQL, without a model and without cost: for CI, and after each change of the warehouse. ' +
    'Fails where golden SQL does not run; says where it proves little.',
  examples: [
    ['ktx eval check', 'all of evals/'],
    ['ktx eval check revenue', 'evals/revenue.yaml'],
  ],
  define: (command) => command.argument('[sets...]', 'names of question sets; all without'),
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
    const failed = checks.flatMap(({ id, failure }) =>
      failure === undefined ? [] : [{ id, failure }],
    );
    const { style } = context.screen;
    const lines = checks.map(({ id, turn, rows, columns, failure, warning }) => {
      const where = turn === 1 ? id : `${id} (turn ${turn})`;
      if (failure !== undefined)
        return `${style('red', 'error')}  ${where}: ${escapeControls(failure.message)}`;
      const found = `${formatCount(rows, 'row')} of ${columns.map(escapeControls).join(', ')}`;
      return warning === undefined
        ? `${style('green', 'ok')}     ${where}: ${found}`
        : `${style('yellow', 'weak')}   ${where}: ${found}; ${warning}`;
    });
    const total = `${formatCount(cases.length, 'case')} in ${formatCount(sets.length, 'question set')}; golden SQL: ${checks.length - failed.length} of ${checks.length} run.`;
    const [first] = failed;
    return {
      data: {
        cases: cases.map(({ id, turns, tags, skip }) => ({ id, turns: turns.length, tags, skip })),
        golden: checks.map(({ failure, ...rest }) => ({
          ...rest,
          error: failure && { code: failure.code, message: failure.message },
        })),
      },
      text: [...lines, total].join('\n'),
      failure:
        first &&
        new UserError(
          'golden_failed',
          `Golden SQL of ${formatCount(failed.length, 'case')} does not run.`,
          { hint: first.failure.hint ?? `correct ${first.id}` },
        ),
    };
  },
});
