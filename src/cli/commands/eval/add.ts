import { defineCommand } from '../../command.ts';
import { parsePositiveInteger } from '../../flags/parse-number.ts';

export const addCommand = defineCommand({
  description:
    'Makes an answer of a past conversation a case: the question, with those before it, and the ' +
    'rows that the last query of the answer returns. --right says that you checked the answer: ' +
    'the case names you. Without it the case is a draft.',
  examples: [
    ['ktx eval add', 'the last answer of the last conversation, as a draft in evals/chat.yaml'],
    [
      'ktx eval add --right --set revenue',
      'the same in evals/revenue.yaml, as an answer that you checked',
    ],
    ['ktx eval add chat_01k2 --turn 2', 'the second answer of a conversation'],
  ],
  define: (command) =>
    command
      .argument('[conversation]', 'id of ktx chat or ktx ask, or last', 'last')
      .option('--turn <number>', 'which answer of it (default: the last)', parsePositiveInteger)
      .option('--set <name>', 'name of the question set', 'chat')
      .option('--right', 'you checked the answer, and it is right'),
  async run({ args: [conversation], options }, context) {
    const project = await context.project();
    const { addPastAnswer } = await import('../../../eval/cases/add-past-answer.ts');
    const added = await addPastAnswer(project, {
      conversation,
      turn: options.turn,
      set: options.set,
      isRight: options.right === true,
    });
    const { file, id, confirmedBy } = added;
    const check = confirmedBy === undefined ? ' A draft: check there what it expects.' : '';
    return {
      data: added,
      text: `Added case ${id} to ${file}.${check}`,
      next: [[`ktx eval check ${options.set}`, 'runs its golden SQL']],
    };
  },
});
