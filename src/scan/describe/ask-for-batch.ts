import { z } from 'zod';
import { readPrompt } from '../../llm/prompt.ts';
import {
  type DescribeContext,
  askForDescription,
  columnsLeftOut,
  type DescriptionRequest,
  shownBlock,
} from './ask-for-description.ts';
import type { DescriptionBatch } from './description-batches.ts';
import { type DescriptionAnswer, descriptionAnswerSchema } from './description-task.ts';
import { valuesShown } from './shown-table.ts';

const batchAnswerSchema = z.object({
  tables: z.array(
    z.object({
      number: z.int().describe('Of the table.'),
      table: z.string().describe('Its name, exactly as given.'),
      // Each table is checked by itself: one that does not fit costs the others nothing.
      description: z.string().describe('What one row is, and what the table is used for.'),
      columns: z.array(
        z.object({ name: z.string().describe('Exactly as listed.'), description: z.string() }),
      ),
    }),
  ),
});
type TableAnswer = z.infer<typeof batchAnswerSchema>['tables'][number];

export type BatchAnswers = ReadonlyMap<DescriptionRequest, DescriptionAnswer>;

/**
 * Asks the model to describe tables in one call. Several tables are checked one by one: one without
 * an answer was not described correctly. One table by itself throws instead.
 */
export async function askForBatch(
  batch: DescriptionBatch,
  context: DescribeContext,
): Promise<BatchAnswers> {
  const [first, ...others] = batch;
  return first !== undefined && others.length === 0
    ? new Map([[first, await askForDescription(first, context)]])
    : askForTables(batch, context);
}

async function askForTables(
  batch: DescriptionBatch,
  { model, connection, signal }: DescribeContext,
): Promise<BatchAnswers> {
  const blocks = batch.map(({ shown }, index) => `Table ${index + 1}:\n${shownBlock(shown)}`);
  const { tables } = await model.runtime.generateObject({
    role: 'candidateExtraction',
    stage: 'describe',
    values: batch.flatMap(({ shown }) => valuesShown(shown, connection)),
    system: readPrompt('describe-tables'),
    prompt: `The ${batch.length} tables to describe:\n\n${blocks.join('\n\n')}`,
    schema: batchAnswerSchema,
    signal,
  });
  const answers = batch.flatMap((request, index) => {
    const answer = checkedAnswer(
      request,
      tables.filter(({ number }) => number === index + 1),
    );
    return answer === undefined ? [] : [[request, answer] as const];
  });
  return new Map(answers);
}

/**
 * Undefined unless exactly one answer has the table's number, and it has its name and all its
 * columns.
 */
function checkedAnswer(
  { task, shown }: DescriptionRequest,
  [first, ...others]: readonly TableAnswer[],
): DescriptionAnswer | undefined {
  if (first === undefined || others.length > 0 || first.table !== shown.table) return undefined;
  const answer = descriptionAnswerSchema.safeParse(first).data;
  return answer !== undefined && columnsLeftOut(task, answer).length === 0 ? answer : undefined;
}
