import type { Mutant } from './mutant.ts';

const batches = ['scan/description-batches.test.ts'];
const planning = 'scan/describe/description-batches.ts';
const asking = 'scan/describe/ask-for-batch.ts';

/** Tables that share a model call: what one of them may do to the others. */
export const describeMutants: readonly Mutant[] = [
  {
    name: 'batch-with-prose',
    file: planning,
    find: 'if (!maySharePrompt(request.shown)) batches.push([request]);',
    replace: 'if (false) batches.push([request]);',
    why: 'A customer writes an order into a form, and the model follows it for other tables.',
    tests: batches,
  },
  {
    name: 'batch-comment-prose',
    file: planning,
    find: 'const texts = [comment, ...columns',
    replace: 'const texts = [...columns',
    why: 'The comment of one table changes what is said of another.',
    tests: batches,
  },
  {
    name: 'batch-name-prose',
    file: planning,
    find: '...columns.flatMap(({ name, type }) => [name, type]),',
    replace: '...columns.flatMap(({ name }) => [name]),',
    why: 'The labels of an enum change what is said of another table.',
    tests: batches,
  },
  {
    name: 'batch-bytes',
    file: 'scan/describe/short-text.ts',
    find: 'Buffer.byteLength(text) <= bytes &&',
    replace: '',
    why: 'An order in a script without spaces counts as one word.',
    tests: batches,
  },
  {
    name: 'batch-schemas',
    file: planning,
    find: 'openBatches.get(schema)',
    replace: '[...openBatches.values()].at(-1)',
    why: 'Tables of owners who do not trust each other share a prompt.',
    tests: batches,
  },
  {
    name: 'batch-name-check',
    file: asking,
    find: ' || first.table !== shown.table',
    replace: '',
    why: 'A model that slips by one gives a table the description of its neighbour.',
    tests: batches,
  },
  {
    name: 'batch-duplicate',
    file: asking,
    find: 'first === undefined || others.length > 0 ||',
    replace: 'first === undefined ||',
    why: 'Of two answers for one table, the one that came first counts.',
    tests: batches,
  },
  {
    name: 'batch-left-out',
    file: asking,
    find: 'answer !== undefined && columnsLeftOut(task, answer).length === 0 ?',
    replace: 'answer !== undefined ?',
    why: 'Columns stay without a description for good.',
    tests: batches,
  },
  {
    name: 'batch-halved',
    file: planning,
    find: 'if (!isContextTooLong(error)) return',
    replace: 'if (isContextTooLong(error)) return',
    why: 'What does not fit the context is asked again until the money is spent.',
    tests: batches,
  },
  {
    name: 'batch-overloaded',
    file: planning,
    find: 'if (error instanceof LlmError && isTransient(error)) return [];',
    replace: '',
    why: 'A provider that is overloaded gets eight times as many calls.',
    tests: batches,
  },
  {
    name: 'batch-kept',
    file: 'scan/describe/descriptions.ts',
    find: 'model.journal.keep(task.key, answer);',
    replace: 'void task;',
    why: 'Tables of a batch that was paid for are paid for again.',
    tests: batches,
  },
  {
    name: 'batch-ledger',
    file: asking,
    find: 'values: batch.flatMap(({ shown }) => valuesShown(shown, connection)),',
    replace: 'values: batch.slice(0, 1).flatMap(({ shown }) => valuesShown(shown, connection)),',
    why: 'Values leave the machine without a line in the ledger.',
    tests: batches,
  },
];
