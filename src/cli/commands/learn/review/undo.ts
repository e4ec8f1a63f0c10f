import { defineCommand } from '../../../command.ts';
import { commitFlag } from '../../../flags/commit-flag.ts';
import { visibleFlag } from '../../../flags/visible-flag.ts';
import { idsOf, inOrder, publishPins, requireDifferent } from './decide.ts';
import { openForDecision } from './open-for-decision.ts';

export const undoCommand = defineCommand({
  description:
    'Takes the newest decision about a subject back: removes it from pins.yaml, updates the files and commits. What ' +
    'is contested or in doubt without it is open again, and is listed as before. Several are one commit.',
  examples: [['ktx review undo metric:warehouse.orders.revenue', 'the conflict is open again']],
  define: (command) =>
    command
      .argument('<subject...>', 'subject as it stands in pins.yaml, or the id that was chosen')
      .option('--kind <kind>', 'which decision, if the subject has several')
      .option('--seen <choices>', 'what you decided, with commas: refused if it is another by now')
      .option(...visibleFlag)
      .option(...commitFlag),
  async run({ args: [subjects], options: { kind, seen, visible, commit } }, context) {
    const project = await openForDecision(context, { named: subjects, visible, commit });
    const { createUndo, describeUndone } =
      await import('../../../../project/review/decide/undo.ts');
    const create = () =>
      inOrder(subjects, (named) => createUndo(project, { named, kind, seen: idsOf(seen) }));
    const pins = await create();
    requireDifferent(pins, 'name it once: only its newest decision is taken back');
    const made = {
      pins,
      says: 'taken back',
      describe: (pin: (typeof pins)[number]) => describeUndone(project, pin),
      check: { run: async (): Promise<void> => void (await create()) },
    };
    return publishPins(project, made, context);
  },
});
